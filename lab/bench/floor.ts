/** Starts a platform and the baseline on dedicated servers. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createLogger } from '#libs/infrastructure/logger';
import { migrateServices } from '#libs/infrastructure/migrations';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { startBenchPlatform, type BenchPlatform } from './platform.ts';
import { startBenchServers } from './servers.ts';

export interface PlatformWithFloor extends BenchPlatform {
  floorUrl: string;
}

/** Starts everything. `stop` of the result stops everything and removes the data. */
export async function startPlatformWithFloor(log: (line: string) => void): Promise<PlatformWithFloor> {
  const servers = await startBenchServers({ log });
  const stops: (() => Promise<void>)[] = [() => servers.stop()];
  const stop = async (): Promise<void> => {
    for (const work of stops.toReversed()) await work();
  };
  try {
    log('migrating the database');
    await migrateServices({ url: servers.postgres.url, logger: createLogger({ service: 'bench', level: 'warn' }) });
    log('starting the six services and the floor');
    const platform = await startBenchPlatform({ servers, databaseUrl: servers.postgres.url });
    stops.push(() => platform.stop());
    const floorPort = await findFreePort();
    for (const [name, port] of [['floor-responder', 0] as const, ['floor-gateway', floorPort] as const]) {
      const child = await startFloor(name, { ...platform.settings, PORT: String(port) });
      stops.push(async () => {
        child.kill();
        if (child.exitCode === null) await once(child, 'exit');
      });
    }
    return { ...platform, floorUrl: `http://127.0.0.1:${floorPort}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startFloor(name: string, env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, `${name}.ts`), { env: { ...process.env, ...env } });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with status ${code}`))),
  ]);
  return child;
}
