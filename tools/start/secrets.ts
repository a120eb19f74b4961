/** Tokens and passwords of `npm start`: on the loopback address what anybody knows, elsewhere what was made for this folder alone. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { demoValues, isLoopback } from '#libs/config';
import { generateSecrets, writeEnvFile } from '../../cli/secrets/generate.ts';
import { pickVariables } from '../../libs/servers/process-environment.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Of those that the servers of `npm start` do not make for themselves. */
const names = ['API_TOKEN', 'API_LOGIN_SECRET', 'BOOKING_WEBHOOK_SECRET', 'DEMO_PASSWORD'];

/** Whether others reach what `npm start` runs. */
export function isOpen(host: string, env: Variables): boolean {
  return !isLoopback(host) || env['NODE_ENV'] === 'production';
}

/** Where the secrets of a folder are kept whose platform others reach. */
export const secretsFileOf = (dataDir: string): string => join(dataDir, 'secrets.env');

/** The demo accounts' password of a folder whose platform others have reached, if it has been one. */
export function readOwnDemoPassword(dataDir: string): string | undefined {
  const file = secretsFileOf(dataDir);
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))['DEMO_PASSWORD'] : undefined;
}

/** Settings; the services refuse to start where others reach them with weaker ones. */
export function provideSecrets(dataDir: string, open: boolean): Record<string, string> {
  if (!open) return { ...demoValues, ALLOW_UNSIGNED_WEBHOOKS: 'true' };
  const file = secretsFileOf(dataDir);
  if (!existsSync(file)) writeFileSync(file, writeEnvFile(generateSecrets()), { mode: 0o600, flag: 'wx' });
  return pickVariables(parseEnv(readFileSync(file, 'utf8')), names);
}
