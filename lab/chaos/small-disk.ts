/**
 * File systems that can fill up without harm to others: bounded tmpfs mounts in a folder of the run, invisible to other
 * processes. Needs a private name space but neither root nor a container; machines that do not allow one have no small
 * disks.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { findProgram, listPath } from '../../libs/servers/tool-cache.ts';

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
/** Concurrent writes may need more space than was counted. */
const fillAttempts = 50;

/**
 * Re-executes this program in name spaces where it may mount disks. Returns if it already runs there, or if the machine
 * does not allow it.
 */
export function enterNameSpaces(): void {
  const unshare = findProgram('unshare', listPath());
  if (process.platform !== 'linux' || process.env[marker] !== undefined || unshare === undefined) return;
  if (spawnSync(unshare, [...nameSpaces, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status !== 0) return;
  const args = ['unshare', ...nameSpaces, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(unshare, args, { ...process.env, [marker]: 'own' });
}

/** False if the machine does not allow name spaces. */
export const hasNameSpaces = (): boolean => process.env[marker] !== undefined;

/** @param dir created here @returns undefined if mounting is not possible; the folder is then an ordinary one */
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
