/** One platform per folder: who holds it, and which processes belong to it. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { endProcess, identifyProcess, isRunning, type ProcessIdentity } from '#libs/process-identity';

interface LockContent {
  holder: ProcessIdentity;
  /** Where it can be reached. */
  url: string;
}

/** @throws Error that says who runs already, and where. */
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
        `Coherence already runs in this folder: process ${other.holder.pid}, ${other.url}\n` +
          `Stop it with Ctrl-C in its terminal or with: kill ${other.holder.pid}`,
      );
    }
    rmSync(file, { force: true }); // left behind by a killed predecessor
  }
}

/** Who holds the folder; undefined when nobody who lives does. */
export function findStarted(file: string): LockContent | undefined {
  const content = readJson(file) as LockContent | undefined;
  return content !== undefined && isRunning(content.holder) ? content : undefined;
}

/** As it stands in the record. */
export interface RecordedProcess {
  name: string;
  identity: ProcessIdentity;
  signal: NodeJS.Signals;
}

/** The processes that were started, on disk, so that the next start can end those that outlived a killed launcher. */
export class ProcessRecord {
  readonly #file: string;
  #processes: RecordedProcess[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Ends what a predecessor left running. @returns the names. */
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
    return undefined; // a write that a crash cut off
  }
}
