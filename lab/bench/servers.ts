/**
 * Servers of a benchmark with production durability: PostgreSQL, NATS and object store, with their data in one folder.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../libs/product/servers/nats.ts';
import { startObjectStore } from '../../libs/product/servers/object-store.ts';
import type { ObjectStoreServer } from '../../libs/product/servers/object-store-server.ts';
import { type PostgresServer, startPostgres } from '../../libs/product/servers/postgres.ts';

export interface BenchServers {
  dataDir: string;
  postgres: PostgresServer;
  nats: NatsServer;
  objectStore: ObjectStoreServer;
  bucket: string;
  logFile(name: string): string;
  /** Stops the servers and removes their data, unless the caller passed a folder. */
  stop(): Promise<void>;
}

const repoDir = join(import.meta.dirname, '..', '..');
const bucket = 'coherence';

/** @param options.dataDir a persistent folder, possibly with data of an earlier run; default: a temporary folder */
export async function startBenchServers(options: {
  log: (line: string) => void;
  dataDir?: string | undefined;
}): Promise<BenchServers> {
  const { log } = options;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'coherence-bench-'));
  const logFile = (name: string): string => join(dataDir, 'logs', `${name}.log`);
  const stops: (() => Promise<void>)[] = [];
  if (options.dataDir === undefined) stops.push(async () => rmSync(dataDir, { recursive: true, force: true }));
  const stop = async (): Promise<void> => {
    for (const work of stops.toReversed()) await work();
  };
  try {
    log('starting PostgreSQL, NATS and the object store, with synced writes');
    const modulesDir = join(repoDir, 'node_modules');
    const postgres = await startPostgres({
      dataDir: join(dataDir, 'postgres'),
      logFile: logFile('postgres'),
      modulesDir,
      database: 'coherence',
      durable: true,
    });
    stops.push(() => postgres.stop());
    const nats = await startNats({
      program: await provideGoTool(natsServerTool, log),
      dataDir: join(dataDir, 'nats'),
      logFile: logFile('nats'),
      durable: true,
    });
    stops.push(() => nats.stop());
    const objectStore = await startObjectStore({
      dataDir: join(dataDir, 'object-store'),
      logFile: logFile('object-store'),
      durable: true,
      progress: log,
    });
    stops.push(() => objectStore.stop());
    return { dataDir, postgres, nats, objectStore, bucket, logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
