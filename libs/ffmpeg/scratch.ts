/** Disk for results of ffmpeg, which it must be able to seek in: one folder per job, gone with it, swept when a process has left one. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#libs/logger';

export interface ScratchDirectory {
  /** Removes what processes that are gone have left here. */
  sweep(): Promise<void>;
  /** Runs `work` with a folder of its own. */
  run<T>(work: (folder: string) => Promise<T>): Promise<T>;
}

/** @param prefix tells the folders of one kind of work from other things in `dir`. */
export function createScratchDirectory(dir: string, prefix: string, logger: Logger): ScratchDirectory {
  const named = new RegExp(`^${prefix}-(\\d+)-`);
  const running = new Set<string>();
  return {
    sweep: async () => {
      const names = await readdir(dir).catch(() => []);
      for (const name of names) {
        const pid = Number(named.exec(name)?.[1]);
        if (!Number.isSafeInteger(pid) || running.has(name) || (pid !== process.pid && isAlive(pid))) continue;
        await rm(join(dir, name), { recursive: true, force: true });
        logger.info({ folder: name }, 'removed what an ended process left on the disk');
      }
    },
    run: async (work) => {
      await mkdir(dir, { recursive: true });
      const folder = await mkdtemp(join(dir, `${prefix}-${process.pid}-`));
      const name = folder.slice(dir.length + 1);
      running.add(name);
      try {
        return await work(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
        running.delete(name);
      }
    },
  };
}

/** A container's first process always has the same id: a folder of "this" process is from the one before. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
