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
import { identifyProcess, isRunning, type ProcessIdentity } from '#libs/infrastructure/process-identity';

/** Called with a line of text for the user, e.g. on the terminal. */
export type Progress = (line: string) => void;

/** Returns `${XDG_CACHE_HOME:-~/.cache}/coherence`, or a temporary folder if that folder is not writable. */
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

/** Returns the folders of the PATH. */
export function listPath(): string[] {
  return process.env['PATH']?.split(delimiter) ?? [];
}

/** Returns the full path of the first program with this name; undefined if no folder contains one. */
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

/** Creates `file` if it does not exist. If another process is creating it, calls `onWait` and waits. */
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

/**
 * Tries to acquire the lock, also when the process that has it has ended. @returns false when a running process has the
 * lock
 */
export function takeLock(lock: string): boolean {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identifyProcess(process.pid)));
  try {
    for (;;) {
      if (tryLink(own, lock)) return true; // a hard link creates the lock together with its content, so other processes never read an empty lock
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

/**
 * Removes an abandoned lock. Only one process can rename the file, so several processes do not remove it at once. If
 * another process has acquired the lock in the meantime, it is restored.
 */
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

/** Returns the running process that has the lock; undefined when the lock is free or abandoned. */
export function readLockHolder(lock: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(readFileSync(lock, 'utf8')) as ProcessIdentity;
    return isRunning(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}
