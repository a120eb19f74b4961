/**
 * File systems that can be full without harm to anything else: memory of a bounded size, each mounted in a folder of the run, which nobody else sees. That
 * needs neither root nor a container, but a name space of one's own; a machine that allows none has no small disks.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { findProgram, listPath } from '../../libs/servers/tool-cache.ts';

export interface SmallDisk {
  readonly dir: string;
  /** Nothing more can be written; what has its place already can be written again. */
  fill(): void;
  empty(): void;
  /** What is on it is gone. */
  remove(): void;
}

const sizeBytes = 4 * 1024 ** 3;
const marker = 'COHERENCE_CHAOS_MOUNTS';
const nameSpaces = ['--user', '--map-root-user', '--mount', '--'];
/** What is being written meanwhile may need more than was counted. */
const fillAttempts = 50;

/** Runs this program anew in name spaces where it may mount disks. Returns where it does so already, and where the machine allows none. */
export function enterNameSpaces(): void {
  const unshare = findProgram('unshare', listPath());
  if (process.platform !== 'linux' || process.env[marker] !== undefined || unshare === undefined) return;
  if (spawnSync(unshare, [...nameSpaces, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status !== 0) return;
  const args = ['unshare', ...nameSpaces, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(unshare, args, { ...process.env, [marker]: 'own' });
}

/** False where the machine allows none. */
export const hasNameSpaces = (): boolean => process.env[marker] !== undefined;

/** @param dir made here @returns undefined where there can be none; the folder is an ordinary one then */
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
