/**
 * Chooses the settings of `npm start`: environment variables first, then settings of the servers that it starts, then
 * demo values.
 */
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback, isPublicSecret } from '#libs/infrastructure/config';
import { reachableAddress } from '#libs/infrastructure/lifecycle';
import { pickVariables } from '../../libs/product/servers/process-environment.ts';
import { choosePort, findPortProblem } from '../../libs/product/servers/ports.ts';
import { listOwnAddresses, settingsOfService } from '../../libs/product/servers/service-accounts.ts';
import { readServiceSettings } from '../../libs/product/servers/service-settings.ts';
import { provideActorKeys } from './actor-keys.ts';
import { isOpen, provideSecrets } from './secrets.ts';

export const serviceNames = [
  'directory',
  'conversations',
  'media',
  'transcripts',
  'agents',
  'events',
  'api-gateway',
] as const;

type Variables = Readonly<Record<string, string | undefined>>;

/** Address of the gateway. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Returns the URL at which users of this machine reach the gateway. */
export function urlOf(host: string, port: number | string): string {
  return `http://${isLoopback(host) ? `localhost:${port}` : reachableAddress(host, port)}`;
}

const trialValues = {
  S3_REGION: 'us-east-1',
  S3_BUCKET: 'coherence',
  DRAIN_WINDOW_SECONDS: '0',
} as const;

const defaultPort = 8080;
const defaultMediaPort = 8081;
const defaultMediaInternalPort = 8082;
const defaultMetricsPort = 9090;
/** Port on which `npm run demo` simulates the meeting provider. */
const demoProviderPort = 8790;
const firstStartBytes = 300 * 1024 * 1024;
const laterStartBytes = 50 * 1024 * 1024;

/** Reads HOST and PORT. @throws Error when the gateway cannot listen at this address */
export async function readGatewayAddress(env: Variables): Promise<Address> {
  const host = env['HOST'] || '127.0.0.1';
  const text = env['PORT'] || String(defaultPort);
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`PORT must be a number from 1 to 65535, not "${text}".`);
  const problem = await findPortProblem(port, host);
  if (problem === undefined) return { host, port };
  if (problem === 'EADDRNOTAVAIL' || problem === 'ENOTFOUND')
    throw new Error(`HOST "${host}" is not an address of this machine. Unset it, or use :: for all addresses.`);
  const what = problem === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${problem})`;
  throw new Error(`Port ${port} of the API gateway ${what}.\nChoose another port: PORT=${port + 10} npm start`);
}

/** Checks the free disk space. @throws Error when the disk of `dir` does not have enough free space for a start */
export function checkDiskSpace(dir: string, isFirstStart: boolean): void {
  const { bavail, bsize } = statfsSync(dir);
  const [free, needed] = [bavail * bsize, isFirstStart ? firstStartBytes : laterStartBytes];
  if (free >= needed) return;
  const megabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);
  throw new Error(
    `The disk of ${dir} is almost full: ${megabytes(free)} MB free, ${megabytes(needed)} MB needed.\nFree some space and start again; the data is kept.`,
  );
}

/** Returns all known variables: settings of services, addresses of single services, and options of `npm start`. */
export function listKnownVariables(): Promise<ReadonlySet<string>> {
  return (known ??= readKnownVariables());
}

let known: Promise<ReadonlySet<string>> | undefined;

async function readKnownVariables(): Promise<ReadonlySet<string>> {
  const declared = (await readServiceSettings()).flatMap(({ properties }) => Object.keys(properties));
  const own = serviceNames.flatMap((service) => listOwnAddresses(service));
  const programs = ['DATABASE_URL_AUDIT', 'AUDIT_RETENTION_DAYS', 'NATS_URL_CLI'];
  return new Set([...declared, ...own, ...programs, 'DEMO_PASSWORD', 'MEDIA_PORT', 'COHERENCE_DATA_DIR']);
}

/** Returns the variables of the environment that are known settings. */
async function readGiven(env: Variables): Promise<Record<string, string>> {
  const given = pickVariables(env, await listKnownVariables());
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

/** Returns all settings except the settings of servers that `npm start` starts. */
export async function chooseSettings(
  env: Variables,
  { host, port }: Address,
  dataDir: string,
): Promise<Record<string, string>> {
  const given = await readGiven(env);
  const open = isOpen(host, env);
  if (open && isPublicSecret(given['DEMO_PASSWORD'] ?? ''))
    throw new Error(
      'DEMO_PASSWORD is a published password and this installation is reachable from other machines. Choose another password, or unset it.',
    );
  const mediaPort = await choosePort(Number(env['MEDIA_PORT'] || defaultMediaPort), [port]);
  const mediaInternalPort = await choosePort(Number(env['MEDIA_INTERNAL_PORT'] || defaultMediaInternalPort), [
    port,
    mediaPort,
  ]);
  const metricsPorts: [string, string][] = [];
  for (const [index, name] of serviceNames.entries()) {
    metricsPorts.push([
      metricsVariable(name),
      String(await choosePort(Number(given['METRICS_PORT'] ?? defaultMetricsPort) + index)),
    ]);
  }
  return {
    ...trialValues,
    WEBHOOK_SPOOL_DIR: join(dataDir, 'spool'),
    ...provideSecrets(dataDir, open),
    ...(await playProvider(given)),
    ...provideActorKeys(env, dataDir),
    ...given,
    ...(open ? { NODE_ENV: 'production' } : {}), // with this setting, services reject weak secrets
    HOST: host,
    PORT: String(port),
    MEDIA_PORT: String(mediaPort),
    MEDIA_URL: `http://127.0.0.1:${mediaPort}`,
    MEDIA_INTERNAL_PORT: String(mediaInternalPort),
    MEDIA_INTERNAL_URL: `http://127.0.0.1:${mediaInternalPort}`,
    NODE_COMPILE_CACHE: env['NODE_COMPILE_CACHE'] || join(dataDir, 'compile-cache'),
    ...Object.fromEntries(metricsPorts),
  };
}

/** Returns settings for the simulated meeting provider, or no settings when a meeting provider is configured. */
async function playProvider(given: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  if (given['REALTIMEKIT_BASE_URL'] !== undefined) return {};
  const port = String(await choosePort(demoProviderPort));
  return {
    DEMO_PROVIDER_PORT: port,
    REALTIMEKIT_BASE_URL: `http://127.0.0.1:${port}`,
    REALTIMEKIT_API_TOKEN: 'demo-provider-token',
  };
}

/** Returns the settings for the process of one service. */
export function settingsOf(name: string, settings: Readonly<Record<string, string>>): Record<string, string> {
  const own = { ...settingsOfService(name, settings), METRICS_PORT: settings[metricsVariable(name)] ?? '0' };
  if (name !== 'media') return own;
  const { MEDIA_PORT: port = '8081', MEDIA_INTERNAL_PORT: internalPort = '8082' } = settings;
  return { ...own, HOST: '127.0.0.1', PORT: port, INTERNAL_PORT: internalPort };
}

function metricsVariable(service: string): string {
  return `METRICS_PORT_${service.toUpperCase().replaceAll('-', '_')}`;
}
