/**
 * Starts the pipeline job of a step (rules/steps#pipeline-jobs), through the outbox and in the transaction that moves
 * the conversation.
 */
import type { CallContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { jobOf, transcriptImport } from '#libs/product/pipeline';
import type { Dependencies } from '../dependencies.ts';
import type { CachedJourney } from '../directory-cache/index.ts';
import { emitStepEntered } from '../feed/index.ts';
import type { JourneyStep } from '../directory-cache/index.ts';
import { addEnteredStep } from '../timeline/index.ts';
import { addPipelineEntry, findPipelineEntry } from './statements.ts';

export { findMeetingConversations } from './statements.ts';

type PipelineStarter = Pick<Dependencies, 'jobs' | 'pipeline'>;

/** A step that a conversation enters, with its journey. */
interface Entered {
  readonly journey: CachedJourney | undefined;
  readonly step: JourneyStep | undefined;
}

/** The transcript import job, which the admin CLI can start too. */
export const transcriptImportJob = jobOf(transcriptImport);

/** Emits the step event, starts the step's job if it has one, and stores the entry. */
export async function enterStep(
  { jobs, pipeline, eventOutbox }: PipelineStarter & Pick<Dependencies, 'eventOutbox'>,
  tx: Tx,
  conversationId: number,
  { journey, step }: Entered,
  cause: string,
  context: Pick<CallContext, 'requestId' | 'traceparent'>,
): Promise<void> {
  if (step === undefined) return;
  emitStepEntered(eventOutbox, tx, conversationId, journey, step);
  tx.beforeCommit(() => addEnteredStep(tx, { conversationId, stepId: step.id }));
  if (step.pipelineJob === null) return;
  const declaration = pipeline.get(step.pipelineJob);
  const payload = { conversation_id: conversationId, step_id: step.id, cause: 'step_entered' };
  const jobId =
    declaration === undefined ? null : await jobs.enqueue(tx, jobOf(declaration), payload, traceOf(context));
  await addPipelineEntry(tx, { conversationId, stepId: step.id, pipelineJob: step.pipelineJob, cause, jobId });
}

/**
 * Restarts importers when the transcript window becomes complete after their step was entered (D7a). The job `started`,
 * which has just been started, is skipped.
 */
export async function windowCompleted(
  { jobs, pipeline }: PipelineStarter,
  tx: Tx,
  conversationId: number,
  context: Pick<CallContext, 'requestId' | 'traceparent'>,
  started?: string | null,
): Promise<void> {
  for (const declaration of pipeline.values()) {
    if (declaration.restartOnWindowComplete !== true || declaration.name === started) continue;
    const entry = await findPipelineEntry(tx, { conversationId, pipelineJob: declaration.name });
    if (entry === undefined) continue;
    const payload = { conversation_id: conversationId, step_id: entry.step_id, cause: 'window_completed' };
    await jobs.enqueue(tx, jobOf(declaration), payload, traceOf(context));
  }
}

/** Returns the trace fields without undefined values, because callees distinguish absent and undefined fields. */
function traceOf({ requestId, traceparent }: Pick<CallContext, 'requestId' | 'traceparent'>) {
  return traceparent === undefined ? { requestId } : { requestId, traceparent };
}
