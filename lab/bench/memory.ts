/** Measures the memory of the six services after the demo and an idle minute. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isService, readMemory, withDemoPlatform } from './demo-platform.ts';

export interface MemoryRow {
  readonly service: string;
  readonly megabytes: number;
  readonly goal: number;
}

const idleMs = 60_000;
const goals = { service: 110, together: 600 };

/** Returns one row per service and one row for the sum. @throws Error if `/proc` does not exist */
export function measureMemory(log: (line: string) => void): Promise<MemoryRow[]> {
  const logMemory = (line: string): void => log(`memory: ${line}`);
  return withDemoPlatform({}, logMemory, async ({ processes }) => {
    logMemory(`${idleMs / 1_000} s of nothing`);
    await sleep(idleMs);
    const rows = processes
      .filter(isService)
      .map((item) => ({ service: item.name, megabytes: readMemory(item), goal: goals.service }));
    const together = rows.reduce((sum, { megabytes }) => sum + megabytes, 0);
    return [...rows, { service: 'together', megabytes: together, goal: goals.together }];
  });
}
