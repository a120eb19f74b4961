/** Configurations that hold secrets among other things, as they may leave a service: with names in the place of the secrets. */
import { isRawNumber } from '#libs/json';

/** Last words of the names of what is secret, e.g. `bot_token`, `webhookSecret`, `api_key`. */
const secretName = /(?:^|[_\W])(?:token|secret|password|passphrase|api_?key|private_?key|secret_?key|access_?key|credentials?)$/i;

/**
 * A copy with `{env: NAME}` in the place of every secret, as the workspace file names them (rules/workspace#workspace-file).
 * @param prefix begins the names of the variables
 * @param names taken so far; the new ones are added
 */
export function replaceSecrets(value: unknown, prefix: string, names: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => replaceSecrets(item, `${prefix}_${index + 1}`, names));
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]): [string, unknown] => {
    const name = `${prefix}_${key}`;
    const isSecret = typeof item === 'string' && item !== '' && secretName.test(key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'));
    return [key, isSecret ? { env: takeName(name, names) } : replaceSecrets(item, name, names)];
  });
  return Object.fromEntries(entries);
}

function takeName(text: string, names: Set<string>): string {
  const base = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  let name = base;
  for (let number = 2; names.has(name); number++) name = `${base}_${number}`;
  names.add(name);
  return name;
}
