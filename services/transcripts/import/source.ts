/** What a run needs to know of its conversation. */
import { AppError } from '#libs/errors';
import type { JobRun } from '#libs/jobs';
import type { Bus } from '#libs/nats';
import type { PipelinePayload } from '#libs/pipeline';
import { conversations } from '#services/conversations';

export type Run = JobRun<PipelinePayload>;

/** Window, meeting and participants of the conversation; undefined when it is gone. */
export async function readSource(bus: Bus, run: Run) {
  try {
    return await bus.call(conversations.rpcs.getTranscriptSource, { conversation_id: run.payload.conversation_id }, run.context);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}
