/** The end of a run in the evidence of its conversation. */
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { type ImportStatus, transcriptFeed } from '../evidence/contract.ts';
import { decideEvidence, isNews, lockForWriting, readEvidenceState, type RunResult, saveEvidence } from '../evidence/index.ts';

export type Finished = ImportStatus | 'conversation_gone';

/**
 * Applies the result to the stored evidence, and publishes what is new in it or in the rows; the status that is stored afterwards.
 * @param changed whether the rows that were installed differ from those before
 */
export async function record(
  eventOutbox: EventOutbox,
  tx: Tx,
  conversationId: number,
  result: RunResult,
  changed = false,
): Promise<Finished> {
  if (!(await lockForWriting(tx, conversationId))) return 'conversation_gone';
  const state = await readEvidenceState(tx, conversationId);
  const next = decideEvidence(state, result);
  if (next === undefined) return state.status;
  await saveEvidence(tx, conversationId, next);
  if (changed || isNews(state, next)) tell(eventOutbox, tx, conversationId, next.status);
  return next.status;
}

function tell(eventOutbox: EventOutbox, tx: Tx, subject: number, status: ImportStatus): void {
  if (status === 'imported') eventOutbox.add(tx, transcriptFeed.imported, { subject, data: {} });
  else if (status !== 'never_ran') eventOutbox.add(tx, transcriptFeed.refused, { subject, data: { status } });
}
