/** The rows of the database in a backup: one packed and sealed file for each table, all of one moment. */
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { loadTables, MigrationError, openSnapshot, advanceIdSequences, type CopyTable, type Loader, type TableRows } from '#libs/orm';
import { BackupError } from './errors.ts';
import { tablePath } from './layout.ts';
import { type Draft, hashOf, type Manifest, type TableEntry } from './manifest.ts';
import type { Seal, Unseal } from './seal.ts';
import { type BackupTarget, checked } from './target.ts';

/** Told as bytes pass. */
export type OnProgress = (what: string, bytes: number) => void;

/**
 * Ids that were given after the backup are not given again: what others remember under them (links, exports, events) must not come to mean
 * something else.
 */
export const idGap = 100_000;
/** Positions of the feed, which clients keep as cursors: an event that came under one that was given already would be told to nobody. */
const counters = [{ schema: 'events', table: 'feed_head', column: 'last_position' }];

/** The same for a database that PostgreSQL's own means put back to an earlier moment. */
export async function raiseGivenIds(url: string, schemas: readonly string[]): Promise<void> {
  await advanceIdSequences(url, { schemas, counters, gap: idGap });
}

export interface DumpOptions {
  readonly url: string;
  readonly schemas: readonly string[];
  readonly target: BackupTarget;
  readonly seal: Seal;
  readonly id: string;
  readonly version: string;
  /** Tables that are read at once. */
  readonly connections: number;
  /** Called when the server allows fewer, and why. */
  readonly onFewer: (connections: number, reason: unknown) => void;
  readonly onProgress: OnProgress;
}

/** Stores every table as it is at one moment, while others go on writing. */
export async function dumpDatabase(options: DumpOptions): Promise<Draft> {
  const { url, target, seal, id, version, connections, onFewer, onProgress } = options;
  const snapshot = await openSnapshot(url, options.schemas).catch(refuse);
  try {
    const draft: Draft = {
      format: 1,
      id,
      version,
      postgres: snapshot.serverVersion,
      taken_at: snapshot.takenAt,
      encrypted_to: [...seal.recipients],
      schemas: Object.fromEntries(
        Object.entries(snapshot.migrations).map(([schema, migrations]) => [
          schema,
          {
            migrations: [...migrations],
            tables: [],
            sequences: snapshot.sequences.filter((item) => item.schema === schema).map(({ name, value }) => ({ name, value })),
          },
        ]),
      ),
    };
    const dumpTable = async (table: CopyTable, rows: TableRows): Promise<void> => {
      const what = `${table.schema}.${table.name}`;
      const counted = countBytes((bytes) => onProgress(what, bytes));
      const packed = createZstdCompress();
      // A failure of the store ends the reading, too: whoever fails first takes the others along.
      const [stored] = await Promise.all([
        storeOrEnd(target, tablePath(draft, table.schema, table.name), seal, packed),
        pipeline(rows, counted.stream, packed),
      ]);
      draft.schemas[table.schema]?.tables.push({
        name: table.name,
        columns: [...table.columns],
        rows: rows.rowCount,
        bytes: counted.bytes(),
        stored_bytes: stored.sizeBytes,
        sha256: stored.sha256,
      });
    };
    await snapshot.readTables({ connections, work: dumpTable, onFewer });
    for (const { tables } of Object.values(draft.schemas)) tables.sort((a, b) => (a.name < b.name ? -1 : 1));
    return draft;
  } finally {
    await snapshot.close();
  }
}

function refuse(error: unknown): never {
  throw error instanceof MigrationError ? new BackupError(error.message) : error;
}

async function storeOrEnd(target: BackupTarget, path: string, seal: Seal, body: Readable) {
  try {
    return await target.write(path, await seal.seal(body));
  } catch (error) {
    body.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

/** Fills the empty tables of the schemas with the rows of the backup: all, or none when anything is not as the manifest says. */
export async function loadDatabase(options: {
  readonly url: string;
  readonly manifest: Manifest;
  readonly target: BackupTarget;
  readonly unseal: Unseal;
  readonly onProgress: OnProgress;
}): Promise<void> {
  const { url, manifest } = options;
  await loadTables(url, Object.keys(manifest.schemas), async (loader) => {
    checkTables(manifest, loader.tables);
    for (const table of loader.tables) {
      const entry = manifest.schemas[table.schema]?.tables.find(({ name }) => name === table.name);
      if (entry !== undefined) await loadTable(options, loader, { ...table, columns: entry.columns }, entry);
    }
    for (const [schema, { sequences }] of Object.entries(manifest.schemas)) {
      for (const { name, value } of sequences) await loader.advance({ schema, name, value }, idGap);
    }
    for (const counter of counters) if (manifest.schemas[counter.schema] !== undefined) await loader.raise(counter, idGap);
  }).catch(refuse);
}

async function loadTable(
  { manifest, target, unseal, onProgress }: { manifest: Manifest; target: BackupTarget; unseal: Unseal; onProgress: OnProgress },
  loader: Loader,
  table: CopyTable,
  entry: TableEntry,
): Promise<void> {
  const path = tablePath(manifest, table.schema, table.name);
  const body = await target.read(path);
  if (body === undefined) throw new BackupError(`${path} is missing`);
  const what = `${table.schema}.${table.name}`;
  const opened = Readable.from(await unseal(checked(body, { path, bytes: entry.stored_bytes, sha256: entry.sha256 })));
  // More than the manifest says is not even written: a small file can unpack to any size.
  const counted = countBytes((bytes) => onProgress(what, bytes), { path, bytes: entry.bytes });
  const rows = loader.write(table);
  await pipeline(opened, createZstdDecompress(), counted.stream, rows).catch((error: unknown) => {
    throw isPacking(error) ? new BackupError(`${path} cannot be unpacked: ${error.message}`) : error;
  });
  if (counted.bytes() !== entry.bytes || rows.rowCount !== entry.rows) {
    throw new BackupError(
      `${path} has ${rows.rowCount} rows in ${counted.bytes()} bytes; its manifest says ${entry.rows} in ${entry.bytes}`,
    );
  }
}

/** What the unpacking says of bytes that are not what was packed. */
function isPacking(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ZSTD_');
}

/** The tables of this release at the migrations of the backup are exactly those of the backup. */
function checkTables(manifest: Manifest, tables: readonly CopyTable[]): void {
  const expected = describeTables(
    Object.entries(manifest.schemas).flatMap(([schema, item]) => item.tables.map(({ name, columns }) => ({ schema, name, columns }))),
  );
  const found = describeTables(tables);
  if (hashOf(expected.join('\n')) === hashOf(found.join('\n'))) return;
  const differing = [...expected.filter((item) => !found.includes(item)), ...found.filter((item) => !expected.includes(item))];
  throw new BackupError(`the tables of the backup are not those that its migrations make: ${differing.slice(0, 3).join('; ')}`);
}

const describeTables = (tables: readonly CopyTable[]): string[] =>
  tables.map(({ schema, name, columns }) => `${schema}.${name} (${columns.toSorted().join(', ')})`).toSorted();

function countBytes(onBytes: (bytes: number) => void, limit?: { path: string; bytes: number }): { stream: Transform; bytes: () => number } {
  let total = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.byteLength;
      onBytes(chunk.byteLength);
      if (limit !== undefined && total > limit.bytes) done(new BackupError(`${limit.path} unpacks to more than its manifest says`));
      else done(null, chunk);
    },
  });
  return { stream, bytes: () => total };
}
