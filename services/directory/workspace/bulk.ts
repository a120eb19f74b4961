/** Runs the bulk statements of the workspace in batches: a large file becomes several statements, none of which takes long. */
import type { Tx } from '#libs/orm';
import { allocateIds, insertRows, toParameter, updateRows, type Row, type TableName, type UpdatedRow } from './statements/tables.ts';

/** Rows of one statement. */
const batchSize = 5_000;

/** Takes fresh ids of a table, ascending. */
export async function takeIds(tx: Tx, table: TableName, count: number): Promise<number[]> {
  if (count === 0) return [];
  const rows = await allocateIds[table](tx, { count });
  return rows.map(({ id }) => id);
}

/** Inserts new rows; columns that a row does not name get their defaults. */
export async function insertAll(tx: Tx, table: TableName, rows: readonly Row[]): Promise<void> {
  for (const batch of batches(rows)) await insertRows[table](tx, { rows: toParameter(batch) });
}

/** Writes the rows that differ from what is stored and returns what changed. */
export async function updateAll(tx: Tx, table: TableName, rows: readonly Row[]): Promise<UpdatedRow[]> {
  const updated: UpdatedRow[] = [];
  for (const batch of batches(rows)) {
    for (const row of await updateRows[table](tx, { rows: toParameter(batch) })) updated.push(row);
  }
  return updated;
}

/** Parts of a list, each small enough for one statement. */
export function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += batchSize) yield rows.slice(start, start + batchSize);
}
