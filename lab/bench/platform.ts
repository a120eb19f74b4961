/**
 * Starts a dedicated platform for a benchmark: the six services as processes, with a separate database and NATS prefix.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { createLogger } from '#libs/infrastructure/logger';
import { makeStreams } from '../../tools/streams.ts';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { startServiceProcess, type ServiceProcess } from '../../libs/product/servers/service-process.ts';
import type { BenchServers } from './servers.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const services = ['directory', 'conversations', 'transcripts', 'media', 'agents', 'events', 'api-gateway'] as const;
export type ServiceName = (typeof services)[number];

export interface BenchPlatform {
  baseUrl: string;
  settings: Readonly<Record<string, string>>;
  /** Running processes by name. */
  processes: ReadonlyMap<ServiceName, ServiceProcess>;
  /** @returns the output. @throws Error if the command fails */
  cli(args: readonly string[], env?: Readonly<Record<string, string>>): string;
  stopService(name: ServiceName): Promise<void>;
  startService(name: ServiceName): Promise<void>;
  stop(): Promise<void>;
}

/** @param options.name used in log names and as subject prefix; empty if no other platform uses these servers */
export async function startBenchPlatform(options: {
  servers: BenchServers;
  /** Migrated. */
  databaseUrl: string;
  name?: string;
}): Promise<BenchPlatform> {
  const { servers, databaseUrl, name: platformName } = options;
  const keys = generateActorKeys();
  const [gatewayPort, mediaPort, internalPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const settings: Readonly<Record<string, string>> = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '10',
    NATS_URL: servers.nats.url,
    NATS_SUBJECT_PREFIX: platformName ?? '',
    S3_ENDPOINT: servers.objectStore.endpoint,
    S3_REGION: 'us-east-1',
    S3_BUCKET: servers.bucket,
    S3_ACCESS_KEY_ID: servers.objectStore.accessKeyId,
    S3_SECRET_ACCESS_KEY: servers.objectStore.secretAccessKey,
    S3_FORCE_PATH_STYLE: 'true',
    MEDIA_URL: `http://127.0.0.1:${mediaPort}`,
    MEDIA_INTERNAL_URL: `http://127.0.0.1:${internalPort}`,
    INTERNAL_PORT: String(internalPort),
    ACTOR_SIGNING_KEY: keys.signingKey,
    ACTOR_PUBLIC_KEY: keys.publicKey,
    API_TOKEN: 'bench-token',
    API_LOGIN_SECRET: 'bench-secret',
    LOG_LEVEL: 'warn',
    DRAIN_WINDOW_SECONDS: '0',
    WEBHOOK_SPOOL_DIR: join(servers.dataDir, `spool-${platformName ?? 'bench'}`),
  };
  const processes = new Map<ServiceName, ServiceProcess>();
  const ports: Partial<Record<ServiceName, number>> = { 'api-gateway': gatewayPort, media: mediaPort };
  const startService = async (name: ServiceName): Promise<void> => {
    const port = ports[name];
    const env = {
      ...settings,
      METRICS_PORT: String(await findFreePort()),
      ...(port === undefined ? {} : { PORT: String(port) }),
    };
    const logFile = servers.logFile(platformName === undefined ? name : `${platformName}-${name}`);
    const item = await startServiceProcess({ repoDir, name, logFile, env });
    processes.set(name, item);
    for (let missing = await item.readReadiness(); missing !== undefined; missing = await item.readReadiness()) {
      if (item.hasEnded) throw new Error(`${name} ended while starting; its log ends with:\n${item.readLogTail()}`);
      await sleep(50);
    }
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...processes.values()].map((item) => item.stop()));
  };
  try {
    await makeStreams({
      url: servers.nats.url,
      prefix: platformName ?? '',
      logger: createLogger({ service: 'bench', level: 'warn' }),
    });
    await Promise.all(services.map(startService));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    baseUrl: `http://127.0.0.1:${gatewayPort}`,
    settings,
    processes,
    cli: (args, env) => runCli(args, { ...settings, ...env }),
    stopService: async (name) => processes.get(name)?.stop(),
    startService,
    stop,
  };
}

function runCli(args: readonly string[], env: Readonly<Record<string, string>>): string {
  const result = spawnSync(process.execPath, [join(repoDir, 'cli', 'main.ts'), ...args], {
    cwd: repoDir,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status !== 0) throw new Error(`cli ${args.join(' ')}:\n${result.stdout}\n${result.stderr}`);
  return result.stdout;
}
