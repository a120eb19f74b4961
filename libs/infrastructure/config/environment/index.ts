/** Sources of settings: environment variables, and files with the names of variables. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment with the files of the folder `SECRETS_DIR`, e.g. a mounted Secret. A file overrides the
 * variable of the same name; trailing line breaks are removed.
 * @throws Error that names the unreadable folder or file
 */
export function readEnvironment(env: Variables = process.env): Variables {
  const folder = env['SECRETS_DIR'];
  if (folder === undefined || folder === '') return env;
  const settings: Record<string, string | undefined> = { ...env };
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    // In a volume, Kubernetes adds entries that begin with two dots, and files are symbolic links to them.
    if (/^[A-Z][A-Z0-9_]*$/.test(name) && statSync(file).isFile())
      settings[name] = readFileSync(file, 'utf8').replace(/(?<![\r\n])[\r\n]+$/, '');
  }
  return settings;
}
