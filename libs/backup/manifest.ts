/**
 * What a backup says of itself. Everything in it is input: whoever can write where backups are kept can write a manifest, so names are bounded,
 * paths follow from names, and nothing of it becomes a statement or a place on a disk before it was checked here.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from '#libs/contract';
import { compileSchema } from '#libs/schema';
import { BackupError } from './errors.ts';

const name = Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' });
const digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
const size = Type.Integer({ minimum: 0 });
const time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+Z$' });
const wholeNumber = Type.String({ pattern: '^-?\\d{1,19}$' });

const table = Type.Object({
  name,
  columns: Type.Array(name, { minItems: 1, maxItems: 1_600 }),
  rows: size,
  /** Of the rows as text, before they are packed. */
  bytes: size,
  stored_bytes: size,
  sha256: digest,
});
const schema = Type.Object({
  migrations: Type.Array(Type.String({ pattern: '^Migration\\d{14}_[a-z0-9_]{1,100}$' }), { maxItems: 10_000 }),
  tables: Type.Array(table, { maxItems: 10_000 }),
  sequences: Type.Array(Type.Object({ name, value: wholeNumber }), { maxItems: 10_000 }),
});
/** A list names so many objects at most, and they are checked and copied list by list. */
export const objectsOfList = 1_000;
const objectList = Type.Object({ count: Type.Integer({ minimum: 1, maximum: objectsOfList }), bytes: size, sha256: digest });

export const manifestSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String({ pattern: '^\\d{8}T\\d{6}Z-[0-9a-f]{6}$' }),
  /** Of the release that made it. */
  version: Type.String({ maxLength: 64 }),
  postgres: Type.String({ maxLength: 64 }),
  /** The moment of the database. */
  taken_at: time,
  finished_at: time,
  /** Public keys, age; nobody's = not encrypted. */
  encrypted_to: Type.Array(Type.String({ pattern: '^age1[0-9a-z]{1,4000}$' }), { maxItems: 10 }),
  schemas: Type.Record(name, schema, { maxProperties: 100 }),
  /** Null: made without the bytes of the objects. */
  objects: Type.Union([Type.Null(), Type.Array(objectList, { maxItems: 1_000_000 })]),
});
export type Manifest = Static<typeof manifestSchema>;
export type TableEntry = Static<typeof table>;
export type ObjectList = Static<typeof objectList>;

/** What a table takes of the manifest of a backup that is being made. */
export type Draft = Omit<Manifest, 'finished_at' | 'objects'>;

const checkManifest = compileSchema(manifestSchema);

export const objectEntrySchema = Type.Object({
  key: Type.String({ pattern: '^[a-z0-9][A-Za-z0-9._-]{0,200}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}){0,8}$', maxLength: 1_024 }),
  bytes: size,
  stored_bytes: size,
  sha256: digest,
});
export type ObjectEntry = Static<typeof objectEntrySchema>;
const checkEntry = compileSchema(objectEntrySchema);

/** Whether an object of that key can be in a backup. */
export const isObjectKey = (key: string): boolean => checkEntry({ key, bytes: 0, stored_bytes: 0, sha256: '0'.repeat(64) }) === undefined;

export const hashOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** @throws BackupError when the text is no manifest of the backup `id` */
export function readManifest(text: string, id: string): Manifest {
  const value = parse(text, `the manifest of ${id}`);
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (typeof format === 'number' && format > 1) throw new BackupError(`${id} was made by a newer release (format ${format})`);
  const problem = checkManifest(value);
  if (problem !== undefined) throw new BackupError(`the manifest of ${id} is not valid: ${problem.path.join('.')} ${problem.message}`);
  const manifest = value as Manifest;
  if (manifest.id !== id) throw new BackupError(`the manifest of ${id} is of another backup, ${manifest.id}`);
  return manifest;
}

/** @throws BackupError when a line names something that no object is called */
export function readObjectEntries(text: string, what: string): ObjectEntry[] {
  let last = '';
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const entry = parse(line, what);
      const problem = checkEntry(entry);
      if (problem !== undefined) throw new BackupError(`${what} is not valid: ${problem.path.join('.')} ${problem.message}`);
      const { key } = entry as ObjectEntry;
      if (key <= last) throw new BackupError(`${what} is not in order`);
      last = key;
      return entry as ObjectEntry;
    });
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new BackupError(`${what} is not JSON`);
  }
}
