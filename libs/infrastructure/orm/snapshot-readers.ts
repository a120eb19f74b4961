/**
 * Reads the tables of one snapshot through several connections: each imports the snapshot of the exporting connection.
 */
import type { Readable } from 'node:stream';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { CopyTable } from './copy-catalog.ts';

/** Rows of a table in COPY text format. `rowCount` is final at the end. */
export type TableRows = Readable & { readonly rowCount: number };

export interface ReadingOptions {
  /** The connection that exports the snapshot; its transaction must remain open. */
  readonly exporter: pg.Client;
  readonly connect: () => Promise<pg.Client>;
  /** Sorted by size, largest first. */
  readonly tables: readonly CopyTable[];
  readonly connections: number;
  readonly work: (table: CopyTable, rows: TableRows) => Promise<void>;
  /** Called with the number of connections and the reason when fewer connections than requested can be opened. */
  readonly onFewer: (connections: number, reason: unknown) => void;
}

interface Reader {
  readonly read: (table: CopyTable) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Reads all tables.
 * @throws the first failure, after the other readers ended
 */
export async function readTables(options: ReadingOptions): Promise<void> {
  const readers = await openReaders(options);
  const queue = [...options.tables];
  let failure: { readonly error: unknown } | undefined;
  const run = async ({ read }: Reader): Promise<void> => {
    try {
      for (let table = queue.shift(); table !== undefined; table = queue.shift()) await read(table);
    } catch (error) {
      failure ??= { error };
      queue.length = 0;
      await closeAll(readers);
    }
  };
  await Promise.all(readers.map(run));
  await closeAll(readers);
  if (failure !== undefined) throw failure.error;
}

async function closeAll(readers: readonly Reader[]): Promise<void> {
  await Promise.all(readers.map((reader) => reader.close()));
}

/** Opens as many readers as the server allows. If it allows none, the exporting connection reads. */
async function openReaders(options: ReadingOptions): Promise<Reader[]> {
  const { exporter, connections, onFewer, work } = options;
  const own: Reader = { read: (table) => work(table, readRows(exporter, table)), close: async () => undefined };
  if (connections === 1) return [own];
  const { rows } = await exporter.query<{ id: string }>('select pg_export_snapshot() as id');
  const begin = `begin isolation level repeatable read read only; set transaction snapshot ${pg.escapeLiteral(rows[0]?.id ?? '')}`;
  const readers: Reader[] = [];
  try {
    while (readers.length < connections) readers.push(await openReader(options, begin));
  } catch (error) {
    onFewer(Math.max(1, readers.length), error);
  }
  return readers.length === 0 ? [own] : readers;
}

/**
 * Opens a reader that releases its table locks after each table, so that other sessions do not wait for the whole
 * backup.
 */
async function openReader({ connect, work }: ReadingOptions, begin: string): Promise<Reader> {
  const client = await connect();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= client.end());
  try {
    await client.query(`${begin}; commit`);
  } catch (error) {
    await close();
    throw error;
  }
  const read = async (table: CopyTable): Promise<void> => {
    await client.query(begin);
    await work(table, readRows(client, table));
    await client.query('commit');
  };
  return { read, close };
}

const readRows = (client: pg.Client, table: CopyTable): TableRows =>
  client.query(copyTo(`copy (select ${columnsOf(table)} from ${nameOf(table)}) to stdout`));

export const nameOf = ({ schema, name }: CopyTable): string =>
  `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
export const columnsOf = ({ columns }: CopyTable): string =>
  columns.map((column) => pg.escapeIdentifier(column)).join(', ');
