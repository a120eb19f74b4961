/** Runs a statement that makes the whole body of an answer, and passes its bytes on (D48: for whoever looks). */
import type { Actor } from '#libs/contract';
import { notFound } from '#libs/errors';
import { rawJson, type RawJson } from '#libs/nats';
import type { Queryable, Statement } from '#libs/orm';
import { readViewer } from './viewer.ts';

/** @throws AppError not_found when the statement gives no row or no body */
export async function readBody(db: Queryable, statement: Statement, ...params: readonly unknown[]): Promise<RawJson> {
  const [row] = await db.query<{ body: string | null }>(statement, params);
  if (typeof row?.body !== 'string') throw notFound();
  return rawJson(row.body);
}

/** The same for the caller, who is the last two parameters of the statement. @throws AppError not_found */
export function readBodyFor(
  db: Queryable,
  actor: Actor | undefined,
  statement: Statement,
  ...params: readonly unknown[]
): Promise<RawJson> {
  return readBody(db, statement, ...params, ...readViewer(actor));
}
