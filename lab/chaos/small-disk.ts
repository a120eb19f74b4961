/**
 * File systems that can be filled without harm to other processes: tmpfs mounts of limited size in a folder of the run,
 * invisible to other processes. They need a private name space, but neither root nor a container. On machines that do
 * not allow a private name space, small disks are not available.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { findProgram, listPath } from '../../libs/product/servers/tool-cache.ts';

export interface SmallDisk {
  readonly dir: string;
  /** Fills the disk: new data is rejected, existing blocks can be overwritten. */
  fill(): void;
  empty(): void;
  /** Unmounts the disk and removes its content. */
  remove(): void;
}

const sizeBytes = 4 * 1024 ** 3;
const marker = 'COHERENCE_CHAOS_MOUNTS';
const nameSpaces = ['--user', '--map-root-user', '--mount', '--'];
/**
 * Maximum number of attempts to fill the disk. An attempt fails when concurrent writes need more space than was
 * counted.
 */
const fillAttempts = 50;

/**
 * Runs this program again in name spaces in which it may mount disks. Returns if it already runs in them, or if the
 * machine does not allow them.
 */
export function enterNameSpaces(): void {
  const unshare = findProgram('unshare', listPath());
  if (process.platform !== 'linux' || process.env[marker] !== undefined || unshare === undefined) return;
  if (spawnSync(unshare, [...nameSpaces, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status !== 0) return;
  const args = ['unshare', ...nameSpaces, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(unshare, args, { ...process.env, [marker]: 'own' });
}

/** Returns true when this program runs in private name spaces, which some machines do not allow. */
export const hasNameSpaces = (): boolean => process.env[marker] !== undefined;

/**
 * Mounts a small disk.
 * @param dir folder that is created for the disk
 * @returns undefined if mounting is not possible; the folder is then an ordinary folder
 */
export function mountSmallDisk(dir: string): SmallDisk | undefined {
  mkdirSync(dir);
  if (!hasNameSpaces() || !mount(['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', dir])) return undefined;
  const resize = (bytes: number): boolean => mount(['-o', `remount,size=${bytes}`, dir]);
  return {
    dir,
    fill: () => {
      for (let attempt = 1; attempt <= fillAttempts; attempt++) {
        const { blocks, bfree, bsize } = statfsSync(dir);
        if (resize((blocks - bfree) * bsize)) return;
      }
      throw new Error(`${dir} could not be made full`);
    },
    empty: () => void resize(sizeBytes),
    remove: () => void spawnSync('umount', ['--lazy', dir]),
  };
}

function mount(args: readonly string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0;
}
