/** Reads the kernel's counters of processes and their children. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import type { RecordedProcess } from '../../tools/start/start-lock.ts';

export interface Counted {
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  /**
   * Bytes read and written by system calls on files and connections. Linux does not count the bytes of PostgreSQL's
   * connections.
   */
  readonly bytes: number;
  /** Bytes written to disks. */
  readonly diskBytes: number;
}

/** Length of one clock tick, the unit of the kernel's time counters, in ms. */
const tickMs = 10;

/** Returns the counters by recorded process name. */
export function readCounted(processes: readonly Pick<RecordedProcess, 'name' | 'identity'>[]): Map<string, Counted> {
  const all = new Map<number, Counted & { parent: number }>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      // The time of the process and of its exited children (proc(5): fields 14 to 17).
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      const io = readFileSync(`/proc/${pid}/io`, 'utf8');
      const counter = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1] ?? 0);
      all.set(Number(pid), {
        parent: Number(fields[1]),
        cpuMs: ticks * tickMs,
        bytes: counter('rchar') + counter('wchar'),
        diskBytes: counter('write_bytes'),
      });
    } catch {
      // The process has exited, so it has no counters.
    }
  }
  const together = (pid: number): Counted =>
    [...all]
      .filter(([, { parent }]) => parent === pid)
      .map(([child]) => together(child))
      .reduce(add, all.get(pid) ?? nothing);
  return new Map(processes.map(({ name, identity }) => [name, together(identity.pid)]));
}

export const nothing: Counted = { cpuMs: 0, bytes: 0, diskBytes: 0 };
const add = (a: Counted, b: Counted): Counted => ({
  cpuMs: a.cpuMs + b.cpuMs,
  bytes: a.bytes + b.bytes,
  diskBytes: a.diskBytes + b.diskBytes,
});
