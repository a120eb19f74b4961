/** Samples the resident memory of processes. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface MemoryUse {
  name: string;
  beforeBytes: number;
  peakBytes: number;
}

const sampleMs = 25;

/** Starts sampling. `stop` returns the peak of each process; an exited process counts with its last sample. */
export function watchMemory(processes: readonly { name: string; pid: number }[]): { stop(): MemoryUse[] } {
  const uses = processes.map(({ name, pid }) => {
    const bytes = readResidentBytes(pid) ?? 0;
    return { name, pid, beforeBytes: bytes, peakBytes: bytes };
  });
  const timer = setInterval(() => {
    for (const use of uses) use.peakBytes = Math.max(use.peakBytes, readResidentBytes(use.pid) ?? 0);
  }, sampleMs);
  return {
    stop: () => {
      clearInterval(timer);
      return uses.map(({ name, beforeBytes, peakBytes }) => ({ name, beforeBytes, peakBytes }));
    },
  };
}

function readResidentBytes(pid: number): number | undefined {
  try {
    if (process.platform === 'linux') {
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
    }
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
  } catch {
    return undefined; // the process has exited
  }
}
