/** What the e2e tests saw of each operation: written by every platform, read by the report. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Operation id → status → how often it was seen. */
export type Recording = Record<string, Record<string, number>>;

/** Folder of the present run; set by the reporter for all workers, absent when jest runs without it. */
const folderVariable = 'CONTRACT_RECORDINGS';

export function openRecordings(folder: string): void {
  mkdirSync(folder, { recursive: true });
  process.env[folderVariable] = folder;
}

/** Keeps the recording of one platform, when a run collects them. */
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
      for (const [status, count] of Object.entries(statuses)) noteAnswer(joined, operation, status, count);
    }
  }
  return joined;
}

export function noteAnswer(recording: Recording, operation: string, status: string, count = 1): void {
  const statuses = (recording[operation] ??= {});
  statuses[status] = (statuses[status] ?? 0) + count;
}
