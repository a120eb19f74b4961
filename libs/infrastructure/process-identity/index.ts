/**
 * Identifies a process by its pid and start time. The pid alone is not enough: after a crash, the system may assign it
 * to another process.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** Opaque text, different for each process that had this pid. */
  startedAt: string;
}

/** Returns the identity of a running process; undefined when no process has this pid or the process is a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = readStartTime(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Returns true while the process with this pid and start time runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return readStartTime(identity.pid) === identity.startedAt;
}

/**
 * Sends `signal`, waits up to `timeoutMs` for the process to end, then sends SIGKILL.
 * @returns false when the process was not running
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
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the state is field 3 and the start time field 22 (proc(5)); `fields` starts with field 3
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
