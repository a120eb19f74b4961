/**
 * Memory of the six services when they are idle after the demo: `npm start` in a folder of its own, `npm run demo`, and a minute of nothing. As the
 * kernel counts it (PSS): what several processes share is divided among them.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startOwnPlatform } from '../load/own-platform.ts';
import { serviceNames } from '../../tools/start/environment.ts';
import type { RecordedProcess } from '../../tools/start/start-lock.ts';

export interface MemoryRow {
  readonly service: string;
  readonly megabytes: number;
  readonly goal: number;
}

const repoDir = join(import.meta.dirname, '..', '..');
const idleMs = 60_000;
const goals = { service: 110, together: 600 };

/** A row for each service and one for their sum. @throws Error where there is no `/proc` */
export async function measureMemory(say: (line: string) => void): Promise<MemoryRow[]> {
  if (process.platform !== 'linux') throw new Error('Memory is measured on Linux alone: it is read from /proc/<pid>/smaps_rollup.');
  say('memory: starting a platform as npm start does');
  const platform = await startOwnPlatform();
  try {
    say('memory: playing the demo');
    const env = { ...process.env, COHERENCE_DATA_DIR: platform.dataDir };
    await promisify(execFile)(process.execPath, [join('tools', 'demo', 'main.ts')], { cwd: repoDir, env });
    say(`memory: ${idleMs / 1_000} s of nothing`);
    await sleep(idleMs);
    const processes = JSON.parse(readFileSync(join(platform.dataDir, 'processes.json'), 'utf8')) as RecordedProcess[];
    const rows = processes
      .filter(({ name }) => (serviceNames as readonly string[]).includes(name))
      .map(({ name, identity }) => ({ service: name, megabytes: readPss(identity.pid), goal: goals.service }));
    const together = rows.reduce((sum, { megabytes }) => sum + megabytes, 0);
    return [...rows, { service: 'together', megabytes: together, goal: goals.together }];
  } finally {
    await platform.stop();
  }
}

/** MB. */
export function readPss(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
