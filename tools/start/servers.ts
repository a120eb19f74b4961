/**
 * Starts PostgreSQL, NATS and the object store of `npm start`, except for servers that are configured as external. A
 * server that ends is restarted on the same port.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../libs/product/servers/go-tools.ts';
import { startNats } from '../../libs/product/servers/nats.ts';
import { startObjectStore } from '../../libs/product/servers/object-store.ts';
import { startPostgres } from '../../libs/product/servers/postgres.ts';
import {
  adminNatsUrl,
  listDatabaseUrls,
  listNatsUrls,
  listNatsUsers,
} from '../../libs/product/servers/service-accounts.ts';
import type { ServerProcess } from '../../libs/product/servers/server-process.ts';
import type { Screen } from './screen.ts';
import type { ProcessRecord } from './start-lock.ts';
import { keepAlive, type RestartedProcess } from './keep-alive.ts';

export interface Servers {
  /** DATABASE_URL, NATS_URL, S3_… of the started servers. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

interface ServerLocation {
  repoDir: string;
  dataDir: string;
  screen: Screen;
  record: ProcessRecord;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Starts all servers in parallel, except those with an address in `env`. Stops all servers when one fails to start.
 * @param prepareDatabase called with the database settings as soon as the database runs, while other servers may still
 * be built
 */
export async function startServers(
  env: Variables,
  location: ServerLocation,
  prepareDatabase: (settings: Readonly<Record<string, string>>) => Promise<void>,
): Promise<Servers> {
  const postgres = env['DATABASE_URL'] ? undefined : runPostgres(location);
  const prepared = Promise.resolve(postgres).then((started) => prepareDatabase(started?.settings ?? {}));
  const starts = [
    postgres,
    env['NATS_URL'] ? undefined : runNats(location),
    env['S3_ENDPOINT'] ? undefined : runObjectStore(location, env),
  ].filter((start) => start !== undefined);
  const [preparation, ...results] = await Promise.allSettled([prepared, ...starts]);
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((item) => item.restarted.stop()));
  };
  // A set, since a database that fails to start also makes its preparation fail with the same error.
  const failures = new Set(
    [...results, preparation].flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : [])),
  );
  if (failures.size > 0) {
    await stop();
    throw new Error([...failures].map((failure) => failure.message).join('\n\n'));
  }
  return { settings: Object.assign({}, ...started.map((item) => item.settings)) as Record<string, string>, stop };
}

interface Started {
  settings: Record<string, string>;
  restarted: RestartedProcess;
}

/**
 * Returns the secret from which the passwords of the services' accounts are derived. It is generated once per folder
 * and readable only by its owner.
 */
function readServiceSecret(dataDir: string): string {
  const file = join(dataDir, 'service-secret');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  return readFileSync(file, 'utf8');
}

function runPostgres(location: ServerLocation): Promise<Started> {
  const dataDir = join(location.dataDir, 'postgres');
  const isNew = !existsSync(join(dataDir, 'PG_VERSION'));
  return location.screen.step(isNew ? 'PostgreSQL, a new database' : 'PostgreSQL', () =>
    run(
      location,
      (port) =>
        startPostgres({
          dataDir,
          logFile: join(location.dataDir, 'logs', 'postgres.log'),
          modulesDir: join(location.repoDir, 'node_modules'),
          database: 'coherence',
          durable: true,
          ...port,
        }),
      (server) => server.url,
      (server) => ({ DATABASE_URL: server.url, ...listDatabaseUrls(server.url, readServiceSecret(location.dataDir)) }),
    ),
  );
}

function runNats(location: ServerLocation): Promise<Started> {
  return location.screen.step('NATS with JetStream', async (progress) => {
    const program = await provideGoTool(natsServerTool, progress);
    const secret = readServiceSecret(location.dataDir);
    const users = listNatsUsers(secret, { anyPrefix: false });
    const options = {
      program,
      dataDir: join(location.dataDir, 'nats'),
      logFile: join(location.dataDir, 'logs', 'nats.log'),
      durable: true,
      users,
    };
    return run(
      location,
      (port) => startNats({ ...options, ...port }),
      (server) => server.url,
      (server) => ({ NATS_URL: adminNatsUrl(server.url, secret), ...listNatsUrls(server.url, secret) }),
    );
  });
}

/** Starts the object store. It is MinIO in folders where an earlier release stored objects with MinIO. */
function runObjectStore(location: ServerLocation, env: Variables): Promise<Started> {
  const kind = existsSync(join(location.dataDir, 'minio')) ? 'minio' : 'versitygw';
  return location.screen.step(`${kind}, the object store`, (progress) => {
    const options = {
      kind,
      dataDir: join(location.dataDir, kind === 'minio' ? 'minio' : 'object-store'),
      logFile: join(location.dataDir, 'logs', 'object-store.log'),
      region: env['S3_REGION'] || undefined,
      durable: true,
      progress,
    } as const;
    return run(
      location,
      (port) => startObjectStore({ ...options, ...port }),
      (server) => server.endpoint,
      (server) => ({
        S3_ENDPOINT: server.endpoint,
        S3_ACCESS_KEY_ID: server.accessKeyId,
        S3_SECRET_ACCESS_KEY: server.secretAccessKey,
        S3_BUCKET: env['S3_BUCKET'] || 'coherence',
        S3_FORCE_PATH_STYLE: 'true',
      }),
    );
  });
}

/** Starts a server on a free port, and restarts it on the same port when it ends. */
async function run<S extends ServerProcess>(
  { record, screen }: ServerLocation,
  start: (port: { port?: number }) => Promise<S>,
  addressOf: (server: S) => string,
  settingsOf: (server: S) => Record<string, string>,
): Promise<Started> {
  let port: number | undefined;
  let settings: Record<string, string> = {};
  const restarted = await keepAlive({
    start: async () => {
      const server = await start(port === undefined ? {} : { port });
      port = Number(new URL(addressOf(server)).port);
      settings = settingsOf(server);
      record.add(server.name, server.identity, server.stopSignal);
      return server;
    },
    log: (line) => screen.log(line),
  });
  return { settings, restarted };
}
