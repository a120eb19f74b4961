/**
 * Tokens and passwords of `npm start`: published values on the loopback address, otherwise generated for the folder.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { demoValues, isLoopback } from '#libs/config';
import { generateSecrets, writeEnvFile } from '../../cli/secrets/generate.ts';
import { pickVariables } from '../../libs/servers/process-environment.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Secrets other than those of the servers of `npm start`. */
const names = ['API_TOKEN', 'API_LOGIN_SECRET', 'BOOKING_WEBHOOK_SECRET', 'DEMO_PASSWORD'];

/** True when the platform is reachable from other machines. */
export function isOpen(host: string, env: Variables): boolean {
  return !isLoopback(host) || env['NODE_ENV'] === 'production';
}

/** File with the generated secrets of a folder. */
export const secretsFileOf = (dataDir: string): string => join(dataDir, 'secrets.env');

/** Generated password of the demo accounts, if the folder has one. */
export function readOwnDemoPassword(dataDir: string): string | undefined {
  const file = secretsFileOf(dataDir);
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))['DEMO_PASSWORD'] : undefined;
}

/** Settings with secrets: services that are reachable from other machines reject weaker ones. */
export function provideSecrets(dataDir: string, open: boolean): Record<string, string> {
  if (!open) return { ...demoValues, ALLOW_UNSIGNED_WEBHOOKS: 'true' };
  const file = secretsFileOf(dataDir);
  if (!existsSync(file)) writeFileSync(file, writeEnvFile(generateSecrets()), { mode: 0o600, flag: 'wx' });
  return pickVariables(parseEnv(readFileSync(file, 'utf8')), names);
}
