/** Derives the question state anew, for the operation and for bookings that are joined. */
import type { Tx } from '#libs/orm';
import { parseSqlInstant } from '../sql-values.ts';
import { deriveQuestionState } from './rules.ts';
import * as sql from './statements.ts';

/** Writes the question state of a conversation whose row is locked. */
export async function deriveState(tx: Tx, id: number): Promise<void> {
  const rows = await tx.query<{ question_id: number; occurred_at: string }>(sql.listQuestionChanges, [id]);
  const arrived = rows.map((row) => ({ questionId: row.question_id, occurredAt: parseSqlInstant(row.occurred_at) }));
  await tx.query(sql.replaceQuestionState, [id, deriveQuestionState(arrived)]);
}
