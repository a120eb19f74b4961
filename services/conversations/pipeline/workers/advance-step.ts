/** Moves a conversation on when the pipeline job of its step has succeeded (D6). */
import type { PayloadOf } from '#libs/contract';
import type { JobRun } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { CachedJourney } from '../../directory-cache/index.ts';
import { addNote } from '../../notes/index.ts';
import { findConversation, moveConversation } from '../../statements.ts';
import { nextStep } from '../../step.ts';
import { enterStep } from '../entry.ts';

export function createAdvanceStepWorker(dependencies: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.advanceStep>>): Promise<void> => {
    const { conversation_id: id, step_id: stepId, cause } = run.payload;
    const journey = await readJourney(dependencies, id);
    return run.complete(async (tx) => ({ advanced: await advance(dependencies, tx, { id, stepId, cause, journey, run }) }));
  };
}

/** The journey of a conversation; asked before a transaction begins. */
export async function readJourney({ db, directory }: Dependencies, id: number): Promise<CachedJourney | undefined> {
  const row = await findConversation(db, { id });
  const journeyId = row?.journey_id ?? 0;
  return (await directory.journeys.getMany(journeyId === 0 ? [] : [journeyId])).get(journeyId);
}

/** Moves to the next step and notes it, if `stepId` is still the current one. */
export async function advance(
  dependencies: Dependencies,
  tx: Tx,
  move: { id: number; stepId: number; cause: string; journey: CachedJourney | undefined; run: JobRun<unknown> },
): Promise<boolean> {
  const { id, stepId, cause, journey, run } = move;
  const current = journey?.steps.find((step) => step.id === stepId);
  const next = nextStep(journey?.steps ?? [], stepId);
  if (next === undefined || (await moveConversation(tx, { id, to: next.id, from: stepId })) === undefined) return false;
  const body = `${cause} finished: ${current?.title ?? 'no step'} → ${next.title}`;
  await addNote(tx, { conversationId: id, key: `advance:${run.id}`, type: 'step_change', body, authorPersonId: null });
  await enterStep(dependencies, tx, id, { journey, step: next }, cause, run);
  await dependencies.jobs.emit(tx, conversations.events.changed, { id });
  return true;
}
