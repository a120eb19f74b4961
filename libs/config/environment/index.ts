/** Where settings come from: environment variables, and files of their names. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The environment with the files of the folder `SECRETS_DIR`, e.g. a mounted Secret: each file is a setting by its name, and wins over a
 * variable. Line breaks at the end are left out.
 * @throws Error with the folder or file that cannot be read.
 */
export function readEnvironment(env: Variables = process.env): Variables {
  const folder = env['SECRETS_DIR'];
  if (folder === undefined || folder === '') return env;
  const settings: Record<string, string | undefined> = { ...env };
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    // Kubernetes keeps the files of a volume behind links that begin with two dots.
    if (/^[A-Z][A-Z0-9_]*$/.test(name) && statSync(file).isFile())
      settings[name] = readFileSync(file, 'utf8').replace(/(?<![\r\n])[\r\n]+$/, '');
  }
  return settings;
}
