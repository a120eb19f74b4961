/**
 * Stores the statuses that the e2e tests observed per operation. Every test platform writes them; the coverage report
 * reads them.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Operation id → status → count. */
export type Recording = Record<string, Record<string, number>>;

/** Folder of the current run; set by the reporter for all workers, unset when jest runs without it. */
const folderVariable = 'CONTRACT_RECORDINGS';

export function openRecordings(folder: string): void {
  mkdirSync(folder, { recursive: true });
  process.env[folderVariable] = folder;
}

/** Writes the recording of one platform if the run collects recordings. */
export function keepRecording(name: string, recording: Recording): void {
  const folder = process.env[folderVariable];
  if (folder !== undefined && existsSync(folder))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(recording));
}

/** Merges all recordings of a folder. */
export function readRecordings(folder: string): Recording {
  const joined: Recording = {};
  for (const file of readdirSync(folder).toSorted()) {
    const recording = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recording;
    for (const [operation, statuses] of Object.entries(recording)) {
      for (const [status, count] of Object.entries(statuses)) noteAnswer(joined, operation, status, count);
    }
  }
  return joined;
}

export function noteAnswer(recording: Recording, operation: string, status: string, count = 1): void {
  const statuses = (recording[operation] ??= {});
  statuses[status] = (statuses[status] ?? 0) + count;
}
