/** Processes that may use only so much of a core, by the control groups of Linux; needs root. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Limit {
  /** The process, and what it starts, belong to it from now on. */
  take(pid: number): void;
  /** The process may use what it likes again. */
  release(pid: number): void;
  /** When it has no processes any more. */
  remove(): void;
}

/**
 * A tenth of what Kubernetes takes: a process with a tenth of a core stands still for nine tenths of it, and so do the calls that chance has given to it while
 * others have nothing to do. A slower processor does not.
 */
const periodUs = 10_000;
/** Of its share it is sure, whatever else the machine does: so many times the weight of others. */
const weight = 10;
const root = '/sys/fs/cgroup';

/** @throws Error where there are no control groups that may be changed */
export function limitCores(name: string, cores: number): Limit {
  const isSecond = existsSync(join(root, 'cgroup.controllers'));
  const dir = join(root, ...(isSecond ? [] : ['cpu']), `coherence-lab-${process.pid}-${name}`);
  const quota = Math.round(cores * periodUs);
  try {
    if (isSecond) writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu');
    mkdirSync(dir);
    if (isSecond) {
      writeFileSync(join(dir, 'cpu.max'), `${quota} ${periodUs}`);
      writeFileSync(join(dir, 'cpu.weight'), String(weight * 100));
    } else {
      writeFileSync(join(dir, 'cpu.shares'), String(weight * 1_024));
      writeFileSync(join(dir, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(dir, 'cpu.cfs_quota_us'), String(quota));
    }
  } catch (error) {
    throw new Error('The control groups of this machine cannot be changed: this needs root, and cpu as a controller', { cause: error });
  }
  const move = (pid: number, to: string): void => writeFileSync(join(to, 'cgroup.procs'), String(pid));
  return { take: (pid) => move(pid, dir), release: (pid) => move(pid, join(dir, '..')), remove: () => rmdirSync(dir) };
}
