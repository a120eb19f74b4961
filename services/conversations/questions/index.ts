/** Moves question changes of merged conversations, and updates their question state. */
import type { Tx } from '#libs/infrastructure/orm';
import { parseSqlInstant } from '../representation.ts';
import { deriveQuestionState } from './rules.ts';
import { listQuestionChanges, replaceQuestionState } from './statements.ts';

export { moveQuestionChanges } from './statements.ts';

/** Updates the question state from the changes. The caller must have locked the conversation. */
export async function deriveState(tx: Tx, id: number): Promise<void> {
  const rows = await listQuestionChanges(tx, { conversationId: id });
  const arrived = rows.map((row) => ({ questionId: row.question_id, occurredAt: parseSqlInstant(row.occurred_at) }));
  await replaceQuestionState(tx, { conversationId: id, state: deriveQuestionState(arrived) });
}
