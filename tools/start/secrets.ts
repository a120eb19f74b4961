/**
 * Provides tokens and passwords of `npm start`. On the loopback address they are published values; on another address
 * they are generated once per folder.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { demoValues, isLoopback } from '#libs/infrastructure/config';
import { generateSecrets, writeEnvFile } from '../../cli/secrets/generate.ts';
import { pickVariables } from '../../libs/product/servers/process-environment.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Secrets of the platform, without the secrets of the servers that `npm start` starts. */
const names = ['API_TOKEN', 'API_LOGIN_SECRET', 'BOOKING_WEBHOOK_SECRET', 'DEMO_PASSWORD'];

/** Returns true when other machines can reach the platform. */
export function isOpen(host: string, env: Variables): boolean {
  return !isLoopback(host) || env['NODE_ENV'] === 'production';
}

/** Returns the path of the file with the folder's generated secrets. */
export const secretsFileOf = (dataDir: string): string => join(dataDir, 'secrets.env');

/** Returns the generated password of the demo accounts; returns undefined if the folder has none. */
export function readOwnDemoPassword(dataDir: string): string | undefined {
  const file = secretsFileOf(dataDir);
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))['DEMO_PASSWORD'] : undefined;
}

/**
 * Returns the secrets as settings. Services that other machines can reach reject weak secrets, so strong ones are
 * generated for them.
 */
export function provideSecrets(dataDir: string, open: boolean): Record<string, string> {
  if (!open) return { ...demoValues, ALLOW_UNSIGNED_WEBHOOKS: 'true' };
  const file = secretsFileOf(dataDir);
  if (!existsSync(file)) writeFileSync(file, writeEnvFile(generateSecrets()), { mode: 0o600, flag: 'wx' });
  return pickVariables(parseEnv(readFileSync(file, 'utf8')), names);
}
