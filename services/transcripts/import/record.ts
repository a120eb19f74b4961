/** The end of a run in the evidence of its conversation. */
import type { Tx } from '#libs/orm';
import type { ImportStatus } from '../evidence/contract.ts';
import { decideEvidence, lockForWriting, readEvidenceState, type RunResult, saveEvidence } from '../evidence/index.ts';

export type Finished = ImportStatus | 'conversation_gone';

/** Applies the result to the stored evidence; the status that is stored afterwards. */
export async function record(tx: Tx, conversationId: number, result: RunResult): Promise<Finished> {
  if (!(await lockForWriting(tx, conversationId))) return 'conversation_gone';
  const state = await readEvidenceState(tx, conversationId);
  const next = decideEvidence(state, result);
  if (next === undefined) return state.status;
  await saveEvidence(tx, conversationId, next);
  return next.status;
}
