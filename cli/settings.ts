import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readEnvironment } from '#libs/infrastructure/config/environment';
import { isJsonObject } from '#libs/infrastructure/json';
import { isRunning, type ProcessIdentity } from '#libs/infrastructure/process-identity';

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

/** The platform that `npm start` runs in this folder, and its superuser of the demo workspace. */
export interface LocalPlatform {
  readonly url: string;
  readonly email: string;
  readonly password: string;
  /** The login gate key. */
  readonly gateKey: string;
  /** File that stores the token of the last login. */
  readonly tokenFile: string;
  readonly token: string | undefined;
}

/**
 * Returns the profile that `npm start` wrote; undefined when its platform does not run, has no demo superuser with a
 * known password, or is not the platform of NATS_URL.
 */
export function readLocalPlatform({ NATS_URL: nats }: Variables, file = environmentFile()): LocalPlatform | undefined {
  try {
    const { holder, profile, settings } = JSON.parse(readFileSync(file, 'utf8')) as {
      holder: ProcessIdentity;
      profile?: { url: string; email: string; password: string };
      settings: Variables;
    };
    const isSame = nats === undefined || nats === (settings['NATS_URL_CLI'] ?? settings['NATS_URL']);
    if (!isRunning(holder) || profile === undefined || !isSame) return undefined;
    const tokenFile = join(dirname(file), 'cli-token');
    const key = settings['API_LOGIN_SECRET'] ?? '';
    return { ...profile, gateKey: key, tokenFile, token: readText(tokenFile) };
  } catch {
    return undefined; // no platform has run in this folder
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
