/** Finds programs, and provides the cache folder that all clones of a user share, with locks between processes. */
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isRunning, type ProcessIdentity } from '#libs/process-identity';

/** Receives a line for people, e.g. on the terminal. */
export type Progress = (line: string) => void;

/** `${XDG_CACHE_HOME:-~/.cache}/coherence`, or a temporary folder without such a home. */
export function findCacheDir(): string {
  const candidates = [
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    join(tmpdir(), `cache-${process.getuid?.() ?? 'user'}`),
  ];
  for (const candidate of candidates) {
    const dir = join(candidate, 'coherence');
    try {
      mkdirSync(join(dir, 'bin'), { recursive: true });
      accessSync(join(dir, 'bin'), constants.W_OK);
      return dir;
    } catch {
      continue;
    }
  }
  throw new Error(`Neither ${candidates.join(' nor ')} can be written; set XDG_CACHE_HOME to a folder that can.`);
}

/** The folders of the PATH. */
export function listPath(): string[] {
  return process.env['PATH']?.split(delimiter) ?? [];
}

/** Full path of the first program of this name. */
export function findProgram(name: string, dirs: readonly string[]): string | undefined {
  return dirs.map((dir) => join(dir, name)).find((file) => isProgram(file));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Creates `file` if it does not exist; while another process creates it, calls `onWait` and waits. */
export async function makeOnce(file: string, make: () => Promise<void>, onWait: () => void): Promise<void> {
  const lock = `${file}.lock`;
  while (!existsSync(file)) {
    if (takeLock(lock)) {
      try {
        if (!existsSync(file)) await make();
      } finally {
        rmSync(lock, { force: true });
      }
    } else {
      onWait();
      while (!existsSync(file) && readLockHolder(lock) !== undefined) await sleep(500);
    }
  }
}

/**
 * Runs `work` under an exclusive lock, within this process and between processes; calls `onWait` once if the lock is
 * not free.
 */
export async function withLock<T>(lock: string, work: () => Promise<T>, onWait: () => Promise<void>): Promise<T> {
  for (let waited = false; !takeLock(lock); waited = true) await (waited ? sleep(250) : onWait());
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** @returns false when another running process has the lock; the lock of a dead process is taken over. */
export function takeLock(lock: string): boolean {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identifyProcess(process.pid)));
  try {
    for (;;) {
      if (tryLink(own, lock)) return true; // created atomically with its content, unlike a file that is created and then written
      if (readLockHolder(lock) !== undefined) return false;
      removeAbandoned(lock, `${own}.old`);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

function tryLink(file: string, link: string): boolean {
  try {
    linkSync(file, link);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Renaming lets only one of many processes get the file; it restores a lock that has been acquired since. */
function removeAbandoned(lock: string, aside: string): void {
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readLockHolder(aside) !== undefined) tryLink(aside, lock);
  rmSync(aside, { force: true });
}

/** The running process that has the lock; undefined when it is free or abandoned. */
export function readLockHolder(lock: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(readFileSync(lock, 'utf8')) as ProcessIdentity;
    return isRunning(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}
