/** What the e2e tests saw of each operation: written by every world, read by the report and by the examples of the documents. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One real exchange in JSON. */
export interface RecordedExample {
  readonly request?: unknown;
  readonly response: unknown;
}

export interface Seen {
  count: number;
  example?: RecordedExample;
}

/** Operation id → status → what was seen. */
export type Recording = Record<string, Record<string, Seen>>;

/** Folder of the present run; set by the reporter for all workers, absent when jest runs without it. */
const folderVariable = 'CONTRACT_RECORDINGS';
/** An example is there to be read. */
const maxExampleLength = 2_500;
const secretKeys = /^(token|password)$/;

export function openRecordings(folder: string): void {
  mkdirSync(folder, { recursive: true });
  process.env[folderVariable] = folder;
}

/** Keeps the recording of one world, when a run collects them. */
export function keepRecording(name: string, recording: Recording): void {
  const folder = process.env[folderVariable];
  if (folder !== undefined && existsSync(folder)) writeFileSync(join(folder, `${name}.json`), JSON.stringify(recording));
}

/** All recordings of a folder as one. */
export function readRecordings(folder: string): Recording {
  const joined: Recording = {};
  for (const file of readdirSync(folder).toSorted()) {
    const recording = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recording;
    for (const [operation, statuses] of Object.entries(recording)) {
      for (const [status, seen] of Object.entries(statuses)) {
        const known = noteExchange(joined, operation, status, seen.example);
        known.count += seen.count - 1;
      }
    }
  }
  return joined;
}

/** Counts an exchange; the longest one that still is easy to read becomes the example. */
export function noteExchange(recording: Recording, operation: string, status: string, example: RecordedExample | undefined): Seen {
  const seen = ((recording[operation] ??= {})[status] ??= { count: 0 });
  seen.count++;
  if (example === undefined) return seen;
  const length = JSON.stringify(example).length;
  const present = seen.example === undefined ? 0 : JSON.stringify(seen.example).length;
  if (length <= maxExampleLength && length > present) seen.example = hideSecrets(example) as RecordedExample;
  return seen;
}

function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, secretKeys.test(key) && typeof item === 'string' ? '…' : hideSecrets(item)]),
  );
}
