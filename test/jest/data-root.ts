/**
 * Selects the data folder for the servers of a run. Creating and removing a test file's database of hundreds of small
 * files costs up to half a second of CPU on a disk, and a tenth of that in memory.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess } from '#libs/infrastructure/process-identity';

const memoryDir = '/dev/shm';
const gibibyte = 1024 ** 3;
/** The memory folder is used only with this much free space; a full run uses at most 2 GiB. */
const leastBytes = 6 * gibibyte;
/** The memory folder is used only with this much available memory, which includes the files. */
const leastMemoryBytes = 12 * gibibyte;

/** Creates a folder for this run and removes folders of killed runs. */
export function makeRunDir(repoDir: string): string {
  const roots = [
    join(repoDir, '.data', 'test-runs'),
    join(memoryDir, `coherence-test-runs-${process.getuid?.() ?? ''}`),
  ] as const;
  for (const root of roots) removeAbandonedRuns(root);
  const root = hasMemory() ? roots[1] : roots[0];
  const dir = join(root, `run-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  return dir;
}

function hasMemory(): boolean {
  if (process.platform !== 'linux' || !existsSync(memoryDir) || process.availableMemory() < leastMemoryBytes)
    return false;
  const { bavail, bsize } = statfsSync(memoryDir);
  return bavail * bsize >= leastBytes;
}

/** Removes folders whose process does not run any more; `run-<pid>…` belongs to the process with that id. */
function removeAbandonedRuns(root: string): void {
  if (!existsSync(root)) return;
  for (const name of readdirSync(root)) {
    if (identifyProcess(Number(name.split('-')[1])) === undefined)
      rmSync(join(root, name), { recursive: true, force: true });
  }
}
