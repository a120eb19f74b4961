import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '#libs/config/environment';
import { isJsonObject } from '#libs/json';
import { isRunning, type ProcessIdentity } from '#libs/process-identity';

/**
 * Returns the path of the file that `npm start` writes while its platform runs: `{holder, settings: {NATS_URL,
 * DATABASE_URL, …}}`.
 */
const environmentFile = (): string =>
  join(process.env['COHERENCE_DATA_DIR'] || join(import.meta.dirname, '..', '.data'), 'environment.json');

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment variables. Without NATS_URL, missing variables are read from the platform that runs in this
 * folder.
 */
export function readSettings(env: Variables = readEnvironment(), file = environmentFile()): Variables {
  if (env['NATS_URL'] !== undefined && env['NATS_URL'] !== '') return env;
  return { ...readRunning(file), ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')) };
}

function readRunning(file: string): Record<string, string> {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as { holder: ProcessIdentity; settings: unknown };
    if (!isRunning(content.holder) || !isJsonObject(content.settings)) return {};
    const settings = Object.fromEntries(
      Object.entries(content.settings).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
    // `NATS_URL_CLI` contains the CLI's NATS user, which has exactly the permissions of its commands.
    return settings['NATS_URL_CLI'] === undefined ? settings : { ...settings, NATS_URL: settings['NATS_URL_CLI'] };
  } catch {
    return {}; // no platform has run in this folder
  }
}
