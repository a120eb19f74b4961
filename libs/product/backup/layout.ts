/**
 * Names of files in a target:
 * - backups/<id>/manifest.json, manifest.sha256: the backup is complete when the second file exists
 * - backups/<id>/draft.json: the database dump is complete, objects may be missing
 * - backups/<id>/database/<schema>/<table>.zst[.age]: rows of a table
 * - backups/<id>/objects/<n>.jsonl: list of objects that belong to the backup
 * - objects/<pool>/<key>: bytes of an object, stored once for all backups
 * - erasures/<name>.json: erasure record
 */
import { randomBytes } from 'node:crypto';
import { poolOf } from './seal.ts';

export const backupsFolder = 'backups';
export const objectsFolder = 'objects';
export const erasuresFolder = 'erasures';

const backupId = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

export const isBackupId = (text: string): boolean => backupId.test(text);

/** Returns an id that sorts by time; the first three digits after the seconds are the milliseconds in hexadecimal. */
export function newBackupId(now: Date): string {
  const milliseconds = now.getUTCMilliseconds().toString(16).padStart(3, '0');
  return `${now.toISOString().replace(/[-:]|\.\d+/g, '')}-${milliseconds}${randomBytes(2).toString('hex').slice(1)}`;
}

/** Returns the start time of the backup with this id. */
export function timeOfId(id: string): Date {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(id) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export const folderOf = (id: string): string => `${backupsFolder}/${id}`;
export const manifestPath = (id: string): string => `${folderOf(id)}/manifest.json`;
export const digestPath = (id: string): string => `${folderOf(id)}/manifest.sha256`;
export const draftPath = (id: string): string => `${folderOf(id)}/draft.json`;
export const listPath = (id: string, index: number): string =>
  `${folderOf(id)}/objects/${String(index).padStart(6, '0')}.jsonl`;

export function tablePath(
  backup: { readonly id: string; readonly encrypted_to: readonly string[] },
  schema: string,
  table: string,
): string {
  return `${folderOf(backup.id)}/database/${schema}/${table}.zst${backup.encrypted_to.length > 0 ? '.age' : ''}`;
}

export function objectPath(backup: { readonly encrypted_to: readonly string[] }, key: string): string {
  return `${objectsFolder}/${poolOf(backup.encrypted_to)}/${key}`;
}
