/**
 * Servers of a run, redundant where possible: PostgreSQL with a synchronous standby, a cluster of three NATS servers,
 * and an object store. Each has a separate small disk, except two of the NATS servers. Services connect through proxies
 * that simulate the network. Servers run without fsync, since faults kill processes but never the machine.
 */
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectToServer } from '@nats-io/transport-node';
import { createLogger } from '#libs/infrastructure/logger';
import { startPostgresPair, type PostgresPair } from '../../libs/product/testing/postgres-pair.ts';
import { startTcpProxy, type TcpProxy } from '../../libs/product/testing/tcp-proxy.ts';
import { waitFor } from '../../libs/product/testing/wait-for.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../libs/product/servers/nats.ts';
import { startObjectStore } from '../../libs/product/servers/object-store.ts';
import type { ObjectStoreServer } from '../../libs/product/servers/object-store-server.ts';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { migrateServices } from '#libs/infrastructure/migrations';
import { makeStreams } from '../../tools/streams.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

export interface NatsMember {
  readonly name: string;
  readonly dataDir: string;
  server: NatsServer;
  /** Restarts the server with its data. */
  restart(): Promise<void>;
}

export interface ChaosServers {
  readonly postgres: PostgresPair;
  readonly databaseUrl: string;
  /** In front of both PostgreSQL servers. */
  readonly databaseProxies: readonly TcpProxy[];
  readonly nats: readonly NatsMember[];
  /** Addresses of the proxies in front of NATS. */
  readonly natsUrl: string;
  readonly natsProxies: readonly TcpProxy[];
  /** Returns the leader of the job stream. @throws Error if the stream has no leader */
  findLeader(): Promise<NatsMember>;
  readonly objectStore: { readonly dataDir: string; server: ObjectStoreServer; restart(): Promise<void> };
  readonly objectStoreProxy: TcpProxy;
  /** Returns the disk that contains this folder, or undefined if the machine or the folder has no small disk. */
  findDisk(dir: string): SmallDisk | undefined;
  /** Returns the number of webhooks that wait to be processed. */
  countWebhooks(): Promise<number>;
  /** Resolves when all replicas are synchronized with their leader. */
  waitUntilWhole(): Promise<void>;
  stop(): Promise<void>;
}

const logger = createLogger({ service: 'chaos', level: 'fatal' });
const streamBytes = 64 * 1024 * 1024;
const limits = { JOBS: streamBytes, EVENTS: streamBytes, FEED: streamBytes, WEBHOOKS: streamBytes };
const wholeTimeoutMs = 120_000;

/** @param dir existing folder for data and logs */
export async function startServers(dir: string, log: (line: string) => void): Promise<ChaosServers> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const work of stops.toReversed()) await work();
  };
  const disks = new Map(
    ['database-one', 'database-two', 'broker', 'objects'].map((name) => [name, mountSmallDisk(join(dir, name))]),
  );
  for (const disk of disks.values()) if (disk !== undefined) stops.push(async () => disk.remove());
  try {
    const [postgres, nats, objectStore] = await startTogether(stops, [
      startDatabase(dir),
      startCluster(dir, log),
      startStore(join(dir, 'objects', 'data'), join(dir, 'objects.log'), log),
    ]);
    const databaseProxies = [await startTcpProxy(postgres.primary.url), await startTcpProxy(postgres.standby.url)];
    const objectStoreProxy = await startTcpProxy(objectStore.server.endpoint);
    const natsProxies = await Promise.all(nats.map(({ server }) => startTcpProxy(server.url)));
    for (const proxy of [...databaseProxies, ...natsProxies, objectStoreProxy]) stops.push(proxy.stop);
    const natsUrl = nats.map(({ server }) => server.url).join(',');
    await Promise.all([
      migrateServices({ url: postgres.primary.url, logger }),
      waitFor(() => makeStreams({ url: natsUrl, prefix: '', logger, limits, replicas: nats.length }).then(() => true), {
        what: 'the streams on three servers',
        timeoutMs: wholeTimeoutMs,
      }),
    ]);
    const waitUntilWhole = (): Promise<unknown> =>
      waitFor(() => isWhole(natsUrl), {
        what: 'every copy of every stream',
        timeoutMs: wholeTimeoutMs,
        intervalMs: 250,
      });
    await waitUntilWhole();
    return {
      postgres,
      databaseUrl: postgres.urlThrough(databaseProxies.map(({ url }) => new URL(url).host)),
      databaseProxies,
      nats,
      natsUrl: natsProxies.map(({ url }) => url).join(','),
      natsProxies,
      findLeader: async () => {
        const leader = (await readStreams(natsUrl)).find(({ name }) => name === 'JOBS')?.leader;
        const found = nats.find(({ name }) => name === leader);
        if (found === undefined) throw new Error('the stream of jobs has no leader');
        return found;
      },
      objectStore,
      objectStoreProxy,
      findDisk: (path) => [...disks.values()].find((disk) => disk !== undefined && path.startsWith(`${disk.dir}/`)),
      countWebhooks: async () => (await readStreams(natsUrl)).find(({ name }) => name === 'WEBHOOKS')?.messages ?? 0,
      waitUntilWhole: async () => void (await waitUntilWhole()),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts servers in parallel. If one fails to start, the others are still stopped at the end. */
async function startTogether(
  stops: (() => Promise<unknown>)[],
  [database, cluster, store]: [Promise<PostgresPair>, Promise<NatsMember[]>, Promise<ChaosServers['objectStore']>],
): Promise<[PostgresPair, NatsMember[], ChaosServers['objectStore']]> {
  const started = [
    database.then(({ stop }) => void stops.push(stop)),
    cluster.then((nats) => void stops.push(() => Promise.all(nats.map(({ server }) => server.stop())))),
    store.then((item) => void stops.push(() => item.server.stop())),
  ];
  await Promise.allSettled(started);
  return Promise.all([database, cluster, store]);
}

const startDatabase = (dir: string): Promise<PostgresPair> =>
  startPostgresPair({
    dir,
    dataDirs: [join(dir, 'database-one'), join(dir, 'database-two')],
    synchronous: true,
    synced: false,
  });

async function startCluster(dir: string, log: (line: string) => void): Promise<NatsMember[]> {
  const program = await provideGoTool(natsServerTool, log);
  const names = ['one', 'two', 'three'];
  const ports: number[] = [];
  while (ports.length < 2 * names.length) ports.push(await findFreePort());
  const routes = ports.splice(0, names.length);
  return Promise.all(
    names.map(async (name, index): Promise<NatsMember> => {
      const [port = 0, route = 0] = [ports[index], routes[index]];
      const dataDir = join(dir, index === 0 ? 'broker' : '', `nats-${name}`);
      const logFile = join(dir, `nats-${name}.log`);
      const cluster = { name, port: route, routes, advertised: false };
      const start = (): Promise<NatsServer> => startNats({ program, dataDir, logFile, durable: false, port, cluster });
      const member = {
        name,
        dataDir,
        server: await start(),
        restart: async () => void (member.server = await start()),
      };
      return member;
    }),
  );
}

async function startStore(
  dataDir: string,
  logFile: string,
  log: (line: string) => void,
): Promise<ChaosServers['objectStore']> {
  const port = await findFreePort();
  const start = (): Promise<ObjectStoreServer> =>
    startObjectStore({ dataDir, logFile, port, durable: false, progress: log });
  const store = { dataDir, server: await start(), restart: async () => void (store.server = await start()) };
  return store;
}

interface StreamState {
  readonly name: string;
  readonly leader: string | undefined;
  /** Number of replicas that are synchronized with the leader. */
  readonly current: number;
  readonly messages: number;
}

async function readStreams(url: string): Promise<StreamState[]> {
  const connection = await connectToServer({ servers: url.replaceAll('nats://', '').split(','), timeout: 3_000 });
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    return await Promise.all(
      Object.keys(limits).map(async (name) => {
        const { cluster, state } = await manager.streams.info(name);
        const current = (cluster?.replicas ?? []).filter((replica) => replica.current && !replica.offline).length;
        return { name, leader: cluster?.leader, current, messages: state.messages };
      }),
    );
  } finally {
    await connection.close();
  }
}

async function isWhole(url: string): Promise<boolean> {
  return (await readStreams(url)).every(({ leader, current }) => leader !== undefined && current === 2);
}
