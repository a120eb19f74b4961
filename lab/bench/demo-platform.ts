/**
 * Measures a platform as users run it: `npm start` in a separate folder, followed by the demo. Linux only, since it
 * reads /proc.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readSettings } from '../../cli/settings.ts';
import { serviceNames } from '../../tools/start/environment.ts';
import type { RecordedProcess } from '../../tools/start/start-lock.ts';
import { startOwnPlatform } from '../load/own-platform.ts';

export interface DemoPlatform {
  readonly settings: ReturnType<typeof readSettings>;
  /** Processes of the servers and services. */
  readonly processes: readonly RecordedProcess[];
}

const repoDir = join(import.meta.dirname, '..', '..');

/** Runs `measure` on the platform, then stops it. @throws Error if `/proc` does not exist */
export async function withDemoPlatform<Result>(
  overrides: Readonly<Record<string, string>>,
  log: (line: string) => void,
  measure: (platform: DemoPlatform) => Promise<Result>,
): Promise<Result> {
  if (process.platform !== 'linux')
    throw new Error('Processes are measured on Linux alone: what they use is read from /proc.');
  log('starting a platform as npm start does');
  const platform = await startOwnPlatform(overrides);
  try {
    log('playing the demo');
    const env = { ...process.env, COHERENCE_DATA_DIR: platform.dataDir };
    await promisify(execFile)(process.execPath, [join('tools', 'demo', 'main.ts')], { cwd: repoDir, env });
    return await measure({
      settings: readSettings({}, join(platform.dataDir, 'environment.json')),
      processes: JSON.parse(readFileSync(join(platform.dataDir, 'processes.json'), 'utf8')) as RecordedProcess[],
    });
  } finally {
    await platform.stop();
  }
}

export const isService = ({ name }: RecordedProcess): boolean => (serviceNames as readonly string[]).includes(name);

/** Returns the memory of a process in MB (PSS): pages shared by several processes are divided among these processes. */
export function readMemory({ identity }: RecordedProcess): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${identity.pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
