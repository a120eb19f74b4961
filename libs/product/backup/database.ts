/** The database rows in a backup: one compressed and encrypted file per table, all from one snapshot. */
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import {
  loadTables,
  MigrationError,
  openSnapshot,
  advanceIdSequences,
  type CopyTable,
  type Loader,
  type TableRows,
} from '#libs/infrastructure/orm';
import { BackupError } from './errors.ts';
import { tablePath } from './layout.ts';
import { type Draft, hashOf, type Manifest, type TableEntry } from './manifest.ts';
import type { Seal, Unseal } from './seal.ts';
import { type BackupTarget, checked } from './target.ts';

/** Called repeatedly while bytes are transferred, with the number of new bytes. */
export type OnProgress = (what: string, bytes: number) => void;

/**
 * Number of ids that a restore skips in each sequence. Clients may have stored ids that were assigned after the backup
 * (links, exports, events); these must not refer to other rows.
 */
export const idGap = 100_000;
/**
 * Feed positions, which clients store as cursors. A client would not receive an event whose position was already used.
 */
const counters = [{ schema: 'events', table: 'feed_head', column: 'last_position' }];

/** Advances the ids as `loadDatabase` does, in a database that was restored with PostgreSQL's own tools. */
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
  /** Number of tables read in parallel. */
  readonly connections: number;
  /** Called when the server allows fewer connections, with their number and the reason. */
  readonly onFewer: (connections: number, reason: unknown) => void;
  readonly onProgress: OnProgress;
}

/** Stores a consistent snapshot of every table without blocking writers. */
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
            sequences: snapshot.sequences
              .filter((item) => item.schema === schema)
              .map(({ name, value }) => ({ name, value })),
          },
        ]),
      ),
    };
    const dumpTable = async (table: CopyTable, rows: TableRows): Promise<void> => {
      const what = `${table.schema}.${table.name}`;
      const counted = countBytes((bytes) => onProgress(what, bytes));
      const packed = createZstdCompress();
      // A failed upload also ends the reading of rows, and a failed read ends the upload.
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

/**
 * Fills the empty tables of the schemas with the rows of the backup. Loads no row when anything differs from the
 * manifest.
 */
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
    for (const counter of counters)
      if (manifest.schemas[counter.schema] !== undefined) await loader.raise(counter, idGap);
  }).catch(refuse);
}

async function loadTable(
  {
    manifest,
    target,
    unseal,
    onProgress,
  }: { manifest: Manifest; target: BackupTarget; unseal: Unseal; onProgress: OnProgress },
  loader: Loader,
  table: CopyTable,
  entry: TableEntry,
): Promise<void> {
  const path = tablePath(manifest, table.schema, table.name);
  const body = await target.read(path);
  if (body === undefined) throw new BackupError(`${path} is missing`);
  const what = `${table.schema}.${table.name}`;
  const opened = Readable.from(await unseal(checked(body, { path, bytes: entry.stored_bytes, sha256: entry.sha256 })));
  // Stops at the number of bytes in the manifest, because a small file can decompress to any size.
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

/** Returns whether decompression failed because the input is not valid compressed data. */
function isPacking(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ZSTD_');
}

/** Checks that the backup has exactly the tables that its migrations create in this release. */
function checkTables(manifest: Manifest, tables: readonly CopyTable[]): void {
  const expected = describeTables(
    Object.entries(manifest.schemas).flatMap(([schema, item]) =>
      item.tables.map(({ name, columns }) => ({ schema, name, columns })),
    ),
  );
  const found = describeTables(tables);
  if (hashOf(expected.join('\n')) === hashOf(found.join('\n'))) return;
  const differing = [
    ...expected.filter((item) => !found.includes(item)),
    ...found.filter((item) => !expected.includes(item)),
  ];
  throw new BackupError(
    `the tables of the backup are not those that its migrations make: ${differing.slice(0, 3).join('; ')}`,
  );
}

const describeTables = (tables: readonly CopyTable[]): string[] =>
  tables.map(({ schema, name, columns }) => `${schema}.${name} (${columns.toSorted().join(', ')})`).toSorted();

function countBytes(
  onBytes: (bytes: number) => void,
  limit?: { path: string; bytes: number },
): { stream: Transform; bytes: () => number } {
  let total = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.byteLength;
      onBytes(chunk.byteLength);
      if (limit !== undefined && total > limit.bytes)
        done(new BackupError(`${limit.path} unpacks to more than its manifest says`));
      else done(null, chunk);
    },
  });
  return { stream, bytes: () => total };
}
