/**
 * Starts dedicated servers and services that can be killed: PostgreSQL, NATS, and several processes of each service
 * involved in the feed.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type ActorSigner, createActorSigner, generateActorKeys } from '#libs/infrastructure/actor';
import { createLogger } from '#libs/infrastructure/logger';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { migrateServices } from '#libs/infrastructure/migrations';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../libs/product/servers/go-tools.ts';
import { startNats } from '../../libs/product/servers/nats.ts';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { startPostgres } from '../../libs/product/servers/postgres.ts';
import type { ServerProcess } from '../../libs/product/servers/server-process.ts';
import { type ServiceProcess, startServiceProcess } from '../../libs/product/servers/service-process.ts';
import { makeStreams } from '../../tools/streams.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const services = ['directory', 'conversations', 'events'];

export interface FaultEnvironment {
  readonly bus: Bus;
  readonly actors: ActorSigner;
  /** Names of all servers and processes that can be killed. */
  readonly names: readonly string[];
  /** Kills this process or server with SIGKILL, as a machine failure would, and restarts it. */
  kill(name: string): Promise<void>;
  /** Runs one statement, after waiting until PostgreSQL is available. */
  sql<Row>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}

/**
 * @param dataDir created, and removed at the end
 * @param more additional settings of the services
 * @param replicas processes per service
 */
export async function startFaultEnvironment(
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
  replicas = 2,
): Promise<FaultEnvironment> {
  mkdirSync(dataDir, { recursive: true });
  const logger = createLogger({ service: 'lab', level: 'fatal' });
  const ports = { nats: await findFreePort(), postgres: await findFreePort() };
  const program = await provideGoTool(natsServerTool, () => {});
  const logFile = (name: string): string => join(dataDir, 'logs', `${name.replace('#', '-')}.log`);
  // Faults kill processes but not the machine, so data that was written to disk survives.
  const starts: Readonly<Record<string, () => Promise<ServerProcess & { readonly url: string }>>> = {
    PostgreSQL: () =>
      startPostgres({
        dataDir: join(dataDir, 'postgres'),
        logFile: logFile('postgres'),
        modulesDir: join(repoDir, 'node_modules'),
        database: 'feed',
        durable: true,
        port: ports.postgres,
      }),
    NATS: () =>
      startNats({
        program,
        dataDir: join(dataDir, 'nats'),
        logFile: logFile('nats'),
        durable: false,
        port: ports.nats,
      }),
  };
  const servers = new Map<string, ServerProcess & { readonly url: string }>();
  for (const [name, start] of Object.entries(starts)) servers.set(name, await start());
  const [databaseUrl, natsUrl] = [servers.get('PostgreSQL')?.url ?? '', servers.get('NATS')?.url ?? ''];
  await migrateServices({ url: databaseUrl, logger });
  await makeStreams({ url: natsUrl, prefix: '', logger });

  const keys = generateActorKeys();
  const settings = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '10',
    NATS_URL: natsUrl,
    ACTOR_PUBLIC_KEY: keys.publicKey,
    ACTOR_SIGNING_KEY: keys.signingKey,
    LOG_LEVEL: 'error',
    ...more,
  };
  const processes = new Map<string, ServiceProcess>();
  const startProcess = async (name: string): Promise<void> => {
    const [service = name] = name.split('#');
    const env = { ...settings, METRICS_PORT: String(await findFreePort()) };
    const item = await startServiceProcess({ repoDir, name: service, logFile: logFile(name), env });
    processes.set(name, item);
    while (!item.hasEnded && (await item.readReadiness()) !== undefined) await sleep(50);
    if (item.hasEnded) throw new Error(`${name} ended while starting; its log ends with:\n${item.readLogTail()}`);
  };
  const processNames = services.flatMap((service) =>
    Array.from({ length: replicas }, (_, index) => (index === 0 ? service : `${service}#${index + 1}`)),
  );
  await Promise.all(processNames.map(startProcess));
  const actors = createActorSigner(keys.signingKey);
  const bus = await connectBus({ url: natsUrl, name: 'lab', logger, actors });
  return {
    bus,
    actors,
    names: ['PostgreSQL', 'NATS', ...processNames],
    kill: async (name) => {
      const start = starts[name];
      if (start === undefined) {
        processes.get(name)?.kill('SIGKILL');
        await processes.get(name)?.ended;
        return startProcess(name);
      }
      const server = servers.get(name);
      if (server !== undefined) process.kill(server.identity.pid, 'SIGKILL');
      await server?.ended;
      servers.set(name, await start());
    },
    sql: (text, params) => call(databaseUrl, text, params),
    stop: async () => {
      await bus.close();
      await Promise.all([...processes.values()].map((item) => item.stop()));
      await Promise.all([...servers.values()].map((server) => server.stop()));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens a connection for each call, since a pooled connection would break when PostgreSQL is killed. */
async function call<Row>(url: string, text: string, params: readonly unknown[] = []): Promise<Row[]> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(text, [...params])).rows as Row[];
    } catch (error) {
      if (attempt === 50 || (error as { code?: string }).code?.startsWith('42') === true) throw error;
      await sleep(200);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
