/**
 * The manifest of a backup. Its content is untrusted input: anyone who can write to the target can write a manifest. So
 * names are bounded, paths are derived from names, and every value is validated here before it is used in a statement
 * or a path.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from '#libs/infrastructure/contract';
import { compileSchema } from '#libs/infrastructure/schema';
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
  /** Size of the rows as text, before compression, in bytes. */
  bytes: size,
  stored_bytes: size,
  sha256: digest,
});
const schema = Type.Object({
  migrations: Type.Array(Type.String({ pattern: '^Migration\\d{14}_[a-z0-9_]{1,100}$' }), { maxItems: 10_000 }),
  tables: Type.Array(table, { maxItems: 10_000 }),
  sequences: Type.Array(Type.Object({ name, value: wholeNumber }), { maxItems: 10_000 }),
});
/** Maximum number of objects in a list; a backup is verified and copied one list after the other. */
export const objectsOfList = 1_000;
const objectList = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: objectsOfList }),
  bytes: size,
  sha256: digest,
});

export const manifestSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String({ pattern: '^\\d{8}T\\d{6}Z-[0-9a-f]{6}$' }),
  /** Release that created the backup. */
  version: Type.String({ maxLength: 64 }),
  postgres: Type.String({ maxLength: 64 }),
  /** Time of the database snapshot. */
  taken_at: time,
  finished_at: time,
  /** age public keys; an empty list means that the backup is not encrypted. */
  encrypted_to: Type.Array(Type.String({ pattern: '^age1[0-9a-z]{1,4000}$' }), { maxItems: 10 }),
  schemas: Type.Record(name, schema, { maxProperties: 100 }),
  /** Null: the backup was created without object bytes. */
  objects: Type.Union([Type.Null(), Type.Array(objectList, { maxItems: 1_000_000 })]),
});
export type Manifest = Static<typeof manifestSchema>;
export type TableEntry = Static<typeof table>;
export type ObjectList = Static<typeof objectList>;

/** The manifest fields that are known once the database dump is complete. */
export type Draft = Omit<Manifest, 'finished_at' | 'objects'>;

const checkManifest = compileSchema(manifestSchema);

export const objectEntrySchema = Type.Object({
  key: Type.String({
    pattern: '^[a-z0-9][A-Za-z0-9._-]{0,200}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}){0,8}$',
    maxLength: 1_024,
  }),
  bytes: size,
  stored_bytes: size,
  sha256: digest,
});
export type ObjectEntry = Static<typeof objectEntrySchema>;
const checkEntry = compileSchema(objectEntrySchema);

/** Returns whether an object with this key can be in a backup. */
export const isObjectKey = (key: string): boolean =>
  checkEntry({ key, bytes: 0, stored_bytes: 0, sha256: '0'.repeat(64) }) === undefined;

export const hashOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** Parses a manifest. @throws BackupError when the text is not a manifest of the backup `id` */
export function readManifest(text: string, id: string): Manifest {
  const value = parse(text, `the manifest of ${id}`);
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (typeof format === 'number' && format > 1)
    throw new BackupError(`${id} was made by a newer release (format ${format})`);
  const problem = checkManifest(value);
  if (problem !== undefined)
    throw new BackupError(`the manifest of ${id} is not valid: ${problem.path.join('.')} ${problem.message}`);
  const manifest = value as Manifest;
  if (manifest.id !== id) throw new BackupError(`the manifest of ${id} is of another backup, ${manifest.id}`);
  return manifest;
}

/** Parses a list of objects. @throws BackupError when a line has an invalid object key */
export function readObjectEntries(text: string, what: string): ObjectEntry[] {
  let last = '';
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const entry = parse(line, what);
      const problem = checkEntry(entry);
      if (problem !== undefined)
        throw new BackupError(`${what} is not valid: ${problem.path.join('.')} ${problem.message}`);
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
