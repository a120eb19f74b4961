/** Question changes of conversations that are joined. */
import type { Tx } from '#libs/orm';
import { parseSqlInstant } from '../representation.ts';
import { deriveQuestionState } from './rules.ts';
import { listQuestionChanges, replaceQuestionState } from './statements.ts';

export { moveQuestionChanges } from './statements.ts';

/** Writes the question state of a conversation whose row is locked. */
export async function deriveState(tx: Tx, id: number): Promise<void> {
  const rows = await listQuestionChanges(tx, { conversationId: id });
  const arrived = rows.map((row) => ({ questionId: row.question_id, occurredAt: parseSqlInstant(row.occurred_at) }));
  await replaceQuestionState(tx, { conversationId: id, state: deriveQuestionState(arrived) });
}
