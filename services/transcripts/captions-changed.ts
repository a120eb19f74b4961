/** Captions that were sent to a video host follow the transcript (T4): the media service hears that words or speakers have changed. */
import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { media } from '#services/media';

export type CaptionsChanged = (tx: Tx, conversationIds: readonly number[]) => Promise<void>;

export function createCaptionsChanged(jobs: Pick<Jobs, 'enqueue'>): CaptionsChanged {
  return async (tx, conversationIds) => {
    if (conversationIds.length === 0) return;
    await jobs.enqueue(tx, media.jobs.followTranscripts, { conversation_ids: [...conversationIds] });
  };
}
