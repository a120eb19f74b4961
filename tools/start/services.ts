/** Starts the seven services of `npm start` in parallel, and restarts a service when it ends. */
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceProcess, startServiceProcess } from '../../libs/product/servers/service-process.ts';
import { serviceNames, settingsOf } from './environment.ts';
import { keepAlive, type RestartedProcess } from './keep-alive.ts';
import type { Screen } from './screen.ts';
import type { ProcessRecord } from './start-lock.ts';

const gateway = 'api-gateway';
const readyTimeoutMs = 120_000;
const reportMissingEveryMs = 5_000;

/**
 * Resolves when all services are ready.
 * @param beforeGateway called when all other services are ready, before the gateway starts
 * @throws Error with the end of the log of a service that does not become ready
 */
export async function startServices(
  settings: Readonly<Record<string, string>>,
  { repoDir, dataDir, screen, record }: { repoDir: string; dataDir: string; screen: Screen; record: ProcessRecord },
  beforeGateway?: () => Promise<void>,
): Promise<RestartedProcess> {
  const start = async (name: string): Promise<ServiceProcess> => {
    const logFile = join(dataDir, 'logs', `${name}.log`);
    const item = await startServiceProcess({ repoDir, name, logFile, env: settingsOf(name, settings) });
    if (item.identity !== undefined) record.add(name, item.identity, 'SIGTERM');
    return item;
  };
  const groups =
    beforeGateway === undefined ? [serviceNames] : [serviceNames.filter((name) => name !== gateway), [gateway]];
  const processes: ServiceProcess[] = [];
  try {
    for (const [index, names] of groups.entries()) {
      if (index > 0) await beforeGateway?.();
      const started = await Promise.all(names.map(start));
      processes.push(...started);
      await waitUntilReady(started, repoDir, screen);
    }
  } catch (error) {
    await Promise.all(processes.map((item) => item.stop()));
    throw error;
  }
  const restarted = await Promise.all(
    processes.map((first) => {
      let next: ServiceProcess | undefined = first;
      return keepAlive({
        start: () => {
          const item = next === undefined ? start(first.name) : Promise.resolve(next);
          next = undefined;
          return item;
        },
        log: (line) => screen.log(`${line} (log: ${relative(repoDir, first.logFile)})`),
      });
    }),
  );
  return {
    stop: async () => {
      await Promise.all(restarted.map((item) => item.stop()));
    },
  };
}

async function waitUntilReady(processes: readonly ServiceProcess[], repoDir: string, screen: Screen): Promise<void> {
  const startedAt = Date.now();
  let reportAt = startedAt + reportMissingEveryMs;
  const missing = new Map<ServiceProcess, string>(processes.map((item) => [item, 'starting']));
  while (missing.size > 0) {
    for (const item of missing.keys()) {
      const state = await item.readReadiness();
      if (state === undefined) missing.delete(item);
      else missing.set(item, state);
      if (item.hasEnded) throw describeFailure(item, `${state}`, repoDir);
    }
    const [first] = missing.keys();
    if (first !== undefined && Date.now() - startedAt > readyTimeoutMs)
      throw describeFailure(first, `is not ready: ${missing.get(first)}`, repoDir);
    if (missing.size > 0 && Date.now() > reportAt) {
      reportAt = Date.now() + reportMissingEveryMs;
      screen.log(`    waiting for ${[...missing].map(([item, state]) => `${item.name} (${state})`).join(', ')}`);
    }
    await sleep(50);
  }
}

function describeFailure(item: ServiceProcess, what: string, repoDir: string): Error {
  return new Error(
    `The service ${item.name} ${what}. Its log ${relative(repoDir, item.logFile)} ends with:\n${item.readLogTail()}`,
  );
}
