/** Allows only one running platform per folder, and records the processes of the platform. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { endProcess, identifyProcess, isRunning, type ProcessIdentity } from '#libs/infrastructure/process-identity';

interface LockContent {
  holder: ProcessIdentity;
  /** URL of the platform. */
  url: string;
}

/** @throws Error with process and URL of a platform that is already running */
export function takeStartLock(file: string, url: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const holder = identifyProcess(process.pid);
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify({ holder, url }), { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = findStarted(file);
    if (other !== undefined) {
      throw new Error(
        `Coherence is already running in this folder: process ${other.holder.pid}, ${other.url}\n` +
          `Stop it with Ctrl-C in its terminal or with: kill ${other.holder.pid}`,
      );
    }
    rmSync(file, { force: true }); // removes the file of a process that was killed
  }
}

/** Returns the process and URL of the running platform of the folder, or undefined. */
export function findStarted(file: string): LockContent | undefined {
  const content = readJson(file) as LockContent | undefined;
  return content !== undefined && isRunning(content.holder) ? content : undefined;
}

export interface RecordedProcess {
  name: string;
  identity: ProcessIdentity;
  signal: NodeJS.Signals;
}

/**
 * Stores the ids of started processes, so that the next start can stop processes that survived when the launcher was
 * killed.
 */
export class ProcessRecord {
  readonly #file: string;
  #processes: RecordedProcess[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Stops processes of an earlier run that are still running. @returns their names */
  async endLeftovers(): Promise<string[]> {
    const recorded = (readJson(this.#file) as RecordedProcess[] | undefined) ?? [];
    const running = recorded.filter((item) => isRunning(item.identity));
    await Promise.all(running.map((item) => endProcess(item.identity, item.signal, 5_000)));
    rmSync(this.#file, { force: true });
    return running.map((item) => item.name);
  }

  add(name: string, identity: ProcessIdentity, signal: NodeJS.Signals): void {
    this.#processes = [...this.#processes.filter((item) => isRunning(item.identity)), { name, identity, signal }];
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#processes));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function readJson(file: string): unknown {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  } catch {
    return undefined; // a crash truncated the file
  }
}
