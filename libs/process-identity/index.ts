/**
 * Which process is meant: a pid alone may have been given to somebody else after a crash, so it is kept with its start
 * time.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** Opaque text that differs for every process that ever had this pid. */
  startedAt: string;
}

/** Identity of a running process, or undefined when there is none (zombies do not count). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = readStartTime(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** True while exactly this process runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return readStartTime(identity.pid) === identity.startedAt;
}

/**
 * Sends `signal`, waits up to `timeoutMs` for the end, then sends SIGKILL.
 * @returns false when it was not running (any more).
 */
export async function endProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  if (!isRunning(identity)) return false;
  trySignal(identity.pid, signal);
  const deadline = Date.now() + timeoutMs;
  while (isRunning(identity) && Date.now() < deadline) await sleep(25);
  if (isRunning(identity)) trySignal(identity.pid, 'SIGKILL');
  while (isRunning(identity) && Date.now() < deadline + 5_000) await sleep(25);
  return true;
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readStartTime(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // state is field 3, start time field 22 (proc(5))
      return fields[0] === 'Z' ? undefined : `${readBootId()}:${fields[19]}`;
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
