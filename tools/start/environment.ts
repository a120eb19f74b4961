/** Settings of the platform that `npm start` runs: the caller's variables first, then the embedded servers and demo values. */
import { statfsSync } from 'node:fs';
import { choosePort, findPortProblem } from '../servers/ports.ts';
import { settingsOfService } from '../servers/service-accounts.ts';

export const serviceNames = ['directory', 'conversations', 'media', 'transcripts', 'agents', 'api-gateway'] as const;

type Variables = Readonly<Record<string, string | undefined>>;

/** Values for a trial; whoever sets a variable of the same name overrides it. */
const demoValues = {
  API_TOKEN: 'demo-api-token',
  API_LOGIN_SECRET: 'demo-login-secret',
  ALLOW_UNSIGNED_WEBHOOKS: 'true',
  S3_REGION: 'us-east-1',
  S3_BUCKET: 'coherence',
  DRAIN_WINDOW_SECONDS: '0',
} as const;

const defaultPort = 8080;
const defaultMediaPort = 8081;
const defaultMetricsPort = 9090;
/** Where `npm run demo` plays the meeting provider and the model server when none is configured. */
const demoProviderPort = 8790;
const demoModelPort = 8791;
const firstStartBytes = 300 * 1024 * 1024;
const laterStartBytes = 50 * 1024 * 1024;

/** Where the gateway will listen. @throws Error that says what is wrong and which variable changes it. */
export async function readGatewayAddress(env: Variables): Promise<{ host: string; port: number }> {
  const host = env['HOST'] || '127.0.0.1';
  const text = env['PORT'] || String(defaultPort);
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`PORT is "${text}"; it must be a number from 1 to 65535.`);
  const problem = await findPortProblem(port, host);
  if (problem === undefined) return { host, port };
  if (problem === 'EADDRNOTAVAIL' || problem === 'ENOTFOUND')
    throw new Error(`HOST is "${host}", which is no address of this machine. Leave it away, or :: for every address.`);
  const what = problem === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${problem})`;
  throw new Error(`Port ${port}, where the API gateway would listen, ${what}.\nChoose another one: PORT=${port + 10} npm start`);
}

/** @throws Error when the disk that holds `dir` has too little room to begin. */
export function checkDiskSpace(dir: string, isFirstStart: boolean): void {
  const { bavail, bsize } = statfsSync(dir);
  const [free, needed] = [bavail * bsize, isFirstStart ? firstStartBytes : laterStartBytes];
  if (free >= needed) return;
  const megabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);
  throw new Error(
    `The disk of ${dir} is almost full: ${megabytes(free)} MB free, ${megabytes(needed)} MB needed.\nMake room and start again; the data are kept.`,
  );
}

/** Variables that every service gets, without those of the servers. */
export async function chooseSettings(
  env: Variables,
  { host, port }: { host: string; port: number },
  spoolDir: string,
  cacheDir: string,
): Promise<Record<string, string>> {
  const mediaPort = await choosePort(Number(env['MEDIA_PORT'] || defaultMediaPort));
  const settings: Record<string, string> = {
    ...demoValues,
    HOST: host,
    PORT: String(port),
    MEDIA_PORT: String(mediaPort),
    MEDIA_URL: `http://127.0.0.1:${mediaPort}`,
    WEBHOOK_SPOOL_DIR: spoolDir,
    NODE_COMPILE_CACHE: cacheDir,
  };
  for (const [index, name] of serviceNames.entries()) {
    settings[metricsVariable(name)] = String(await choosePort(Number(env['METRICS_PORT'] || defaultMetricsPort) + index));
  }
  if (!env['REALTIMEKIT_BASE_URL']) {
    const provider = await choosePort(demoProviderPort);
    Object.assign(settings, { DEMO_PROVIDER_PORT: String(provider), REALTIMEKIT_BASE_URL: `http://127.0.0.1:${provider}` });
    settings['REALTIMEKIT_API_TOKEN'] = 'demo-provider-token';
  }
  if (!env['LLM_BASE_URL']) {
    const model = await choosePort(demoModelPort);
    Object.assign(settings, { DEMO_MODEL_PORT: String(model), LLM_BASE_URL: `http://127.0.0.1:${model}/v1`, LLM_MODEL: 'demo' });
    settings['LLM_API_KEY'] = 'demo';
  }
  const own = new Set(['HOST', 'PORT', 'MEDIA_URL', 'MEDIA_PORT', 'NODE_COMPILE_CACHE']);
  for (const name of Object.keys(settings)) if (!own.has(name) && env[name]) settings[name] = env[name];
  return settings;
}

/** What one service's process gets of `settings`. */
export function settingsOf(name: string, settings: Readonly<Record<string, string>>): Record<string, string> {
  const own = { ...settingsOfService(name, settings), METRICS_PORT: settings[metricsVariable(name)] ?? '0' };
  return name === 'media' ? { ...own, HOST: '127.0.0.1', PORT: settings['MEDIA_PORT'] ?? '8081' } : own;
}

function metricsVariable(service: string): string {
  return `METRICS_PORT_${service.toUpperCase().replaceAll('-', '_')}`;
}
