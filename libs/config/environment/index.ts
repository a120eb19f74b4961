/** Sources of settings: environment variables, and files named like them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The environment with the files of the folder `SECRETS_DIR`, e.g. a mounted Secret. A file overrides the variable of
 * its name; trailing line breaks are removed.
 * @throws Error with the unreadable folder or file
 */
export function readEnvironment(env: Variables = process.env): Variables {
  const folder = env['SECRETS_DIR'];
  if (folder === undefined || folder === '') return env;
  const settings: Record<string, string | undefined> = { ...env };
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    // Kubernetes stores the files of a volume behind symbolic links that begin with two dots.
    if (/^[A-Z][A-Z0-9_]*$/.test(name) && statSync(file).isFile())
      settings[name] = readFileSync(file, 'utf8').replace(/(?<![\r\n])[\r\n]+$/, '');
  }
  return settings;
}
