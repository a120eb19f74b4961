/** Search in what was said and captions on video hosts, for what changes rows. */
import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { createCaptionsChanged } from '../captions-changed.ts';
import { transcripts } from '../contract.ts';
import { clearSegments } from './statements/index-rows.ts';

export { lockFacts } from './statements/index-rows.ts';

/** Rows of these conversations have changed: the old ones are found no more from now on, the new ones soon. */
export type RowsChanged = (tx: Tx, conversationIds: readonly number[]) => Promise<void>;

export function createRowsChanged(jobs: Pick<Jobs<typeof transcripts>, 'enqueue'>): RowsChanged {
  const captionsChanged = createCaptionsChanged(jobs);
  return async (tx, conversationIds) => {
    if (conversationIds.length === 0) return;
    await clearSegments(tx, { ids: conversationIds });
    await jobs.enqueue(tx, transcripts.jobs.indexTranscripts, { conversation_ids: [...conversationIds] });
    await captionsChanged(tx, conversationIds);
  };
}
