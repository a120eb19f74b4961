/** Updates the search index for features that change rows or delete conversations. */
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import type { Database, Tx } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import { media } from '#services/media';
import { searchJobs } from './contract.ts';
import { clearSegments, deleteAccessFacts, lockAccessFacts, upsertAccessFacts } from './statements/index-rows.ts';

export { lockAccessFacts } from './statements/index-rows.ts';

type Enqueuer = Pick<Jobs, 'enqueue'>;

/** Maximum conversations per transaction of a refresh. */
const refreshBatchSize = 100;

/** Updates captions on the video host after rows or speakers have changed (T4). */
export async function captionsChanged(jobs: Enqueuer, tx: Tx, conversationIds: readonly number[]): Promise<void> {
  if (conversationIds.length === 0) return;
  await jobs.enqueue(tx, media.jobs.followTranscripts, { conversation_ids: [...conversationIds] });
}

/** Removes the old rows from the search index at once and enqueues indexing of the new rows. */
export async function rowsChanged(jobs: Enqueuer, tx: Tx, conversationIds: readonly number[]): Promise<void> {
  if (conversationIds.length === 0) return;
  await clearSegments(tx, { ids: conversationIds });
  await jobs.enqueue(tx, searchJobs.indexTranscripts, { conversation_ids: [...conversationIds] });
  await captionsChanged(jobs, tx, conversationIds);
}

interface RefreshDependencies {
  readonly bus: Pick<Bus, 'call'>;
  readonly db: Database;
}

/**
 * Refreshes the access facts of these conversations and removes conversations that no longer exist from the index. The
 * conversations service is called under a lock, so that the later of two concurrent refreshes writes the later state.
 */
export async function refreshAccessFacts(
  { bus, db }: RefreshDependencies,
  ids: readonly number[],
  context: CallContext,
): Promise<void> {
  for (let first = 0; first < ids.length; first += refreshBatchSize) {
    const batch = ids.slice(first, first + refreshBatchSize);
    await db.transaction((tx) => refreshBatch({ bus, tx }, batch, context));
  }
}

async function refreshBatch(
  { bus, tx }: { readonly bus: Pick<Bus, 'call'>; readonly tx: Tx },
  ids: readonly number[],
  context: CallContext,
): Promise<void> {
  await lockAccessFacts(tx, { ids });
  const { items } = await bus.call(conversations.rpcs.listAccessFacts, { ids: [...ids] }, context);
  const factsById = new Map(items.map((item) => [item.id, item]));
  for (const id of ids) {
    const facts = factsById.get(id);
    if (facts === undefined) await deleteAccessFacts(tx, { id });
    else {
      await upsertAccessFacts(tx, {
        id,
        start: facts.start,
        eventId: facts.event_id,
        journeyId: facts.journey_id,
        participantIds: facts.participant_ids,
        version: facts.updated_at,
      });
    }
  }
}
