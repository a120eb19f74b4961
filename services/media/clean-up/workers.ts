/** Removal of files that nothing refers to any more: replaced ones, and those of deleted conversations. */
import { conversations } from '#services/conversations';
import type { PayloadOf } from '#libs/contract';
import type { JobHandler, Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import { type Bus, followEvent, type RunningConsumer } from '#libs/nats';
import type { ObjectStore } from '#libs/object-store';
import type { Database, Tx } from '#libs/orm';
import { media } from '../contract.ts';
import { deleteLater, type DeletionDependencies } from '../delete-later.ts';
import { lockConversation } from '../file-statements.ts';
import { dropImport } from '../recording/index.ts';
import { abandonUpload } from '../upload-leases/index.ts';
import { dropVideohostUploads } from '../videohost/index.ts';
import { deleteRetired, findRetired, hideConversation, listOwners, markGone, retireAllFiles, showConversation } from './statements.ts';

const conversationsPerPage = 1_000;

/** Job `media.delete-blob`: first the object, then its record; a repetition finds less to do. */
export function createDeleteBlob(deps: { db: Database; store: ObjectStore }): JobHandler<PayloadOf<typeof media.jobs.deleteBlob>> {
  return async (run) => {
    const blobId = run.payload.blob_id;
    const retired = await findRetired(deps.db, { blobId });
    if (retired !== undefined) await deps.store.delete(retired.object_key);
    await run.complete((tx) => deleteRetired(tx, { blobId }));
  };
}

/** Job `media.follow-conversation`: what its state says now, whatever happened in which order (D67). */
export function createFollowConversation(deps: {
  bus: Bus;
  jobs: Pick<Jobs, 'enqueue'>;
  graceSeconds: number;
}): JobHandler<PayloadOf<typeof media.jobs.followConversation>> {
  return async (run) => {
    const id = run.payload.conversation_id;
    await run.complete(async (tx) => {
      // Asked under the lock: of two jobs the later one sees the later state.
      await lockConversation(tx, { conversationId: id });
      const { state } = await deps.bus.call(conversations.rpcs.getState, { id }, run.context);
      if (state === 'present') await showConversation(tx, { conversationId: id });
      else if (state === 'deleted') await hideConversation(tx, { conversationId: id });
      else await removeFiles(deps, tx, id);
      return { state };
    });
  };
}

/** Job `media.catch-up` (D97): enqueued at each start and after long outages, because what was reported meanwhile may be lost. */
export function createCatchUp({ bus, db, jobs }: { bus: Bus; db: Database; jobs: Jobs }): JobHandler<PayloadOf<typeof media.jobs.catchUp>> {
  return async (run) => {
    const owners = await listOwners(db, { after: run.payload.after, limit: conversationsPerPage });
    const last = owners.at(-1);
    if (last === undefined) return;
    const { items } = await bus.call(conversations.rpcs.listStates, { ids: owners.map(({ id }) => id) }, run.context);
    const hidden = new Set(owners.filter((owner) => owner.is_hidden).map(({ id }) => id));
    const missed = items.filter(({ id, state }) => state === 'gone' || (state === 'deleted') !== hidden.has(id));
    await run.complete(async (tx) => {
      for (const { id } of missed) await jobs.enqueue(tx, media.jobs.followConversation, { conversation_id: id });
      if (owners.length === conversationsPerPage) await jobs.enqueue(tx, media.jobs.catchUp, { after: last.id });
    });
  };
}

/** Once for replicas that start together. */
export async function enqueueCatchUp(jobs: Jobs): Promise<void> {
  await jobs.transaction((tx) => jobs.enqueue(tx, media.jobs.catchUp, { after: 0 }, { key: 'start' }));
}

/** Follows the deletions of the previous release, which published an event and deleted for good. */
export function consumeDeletions(deps: { bus: Bus; jobs: Jobs; logger: Logger; graceSeconds: number }): Promise<RunningConsumer> {
  return followEvent(deps, media.consumers.conversationDeleted, conversations.events.deleted, ({ id }) =>
    deps.jobs.transaction((tx) => removeFiles(deps, tx, id)),
  );
}

/** Retires the files of a conversation that is gone; it is remembered, so that an upload that is still under way stores nothing. */
async function removeFiles(deps: DeletionDependencies, tx: Tx, conversationId: number): Promise<void> {
  await dropVideohostUploads(tx, { conversationId });
  const imported = await dropImport(tx, { conversationId });
  if (imported !== undefined) await abandonUpload(tx, { objectKey: imported.object_key });
  await lockConversation(tx, { conversationId });
  await markGone(tx, { conversationId });
  const retired = await retireAllFiles(tx, { conversationId });
  await deleteLater(
    deps,
    tx,
    retired.map(({ id }) => id),
  );
}
