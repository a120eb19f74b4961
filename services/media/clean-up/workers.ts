/** Jobs that hide and delete files of deleted conversations, and delete files that were replaced. */
import { conversations } from '#services/conversations';
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobHandler, Jobs } from '#libs/infrastructure/jobs';
import { consumeEvent, type RunningConsumer } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { media } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { lockConversation, scheduleBlobDeletion } from '../files.ts';
import { abandonUpload } from '../upload-leases/index.ts';
import { cleanUpJobs } from './contract.ts';
import {
  deleteImport,
  deleteRetired,
  deleteVideohostUploads,
  findRetired,
  hideConversation,
  listConversationsWithFiles,
  markPermanentlyDeleted,
  retireConversationFiles,
  showConversation,
} from './statements.ts';

type RemovalDependencies = Pick<Dependencies, 'jobs' | 'config'>;
type CleanUpWorkers = { readonly [K in keyof typeof cleanUpJobs]: JobHandler<PayloadOf<(typeof cleanUpJobs)[K]>> };

const conversationsPerPage = 1_000;

export function createCleanUpWorkers(
  deps: RemovalDependencies & Pick<Dependencies, 'db' | 'bus' | 'store'>,
): CleanUpWorkers {
  const { db, bus, jobs, store } = deps;
  return {
    deleteBlob: async (run) => {
      const { blob_id: blobId } = run.payload;
      const retired = await findRetired(db, { blobId });
      if (retired !== undefined) await store.delete(retired.object_key);
      await run.complete((tx) => deleteRetired(tx, { blobId }));
    },
    followConversation: async (run) => {
      const { conversation_id: id } = run.payload;
      await run.complete(async (tx) => {
        // The state is read under the lock, so that the later of two jobs applies the later state (D67).
        await lockConversation(tx, { conversationId: id });
        const { state } = await bus.call(conversations.rpcs.getState, { id }, run.context);
        if (state === 'present') await showConversation(tx, { conversationId: id });
        else if (state === 'deleted') await hideConversation(tx, { conversationId: id });
        else await removeConversationFiles(deps, tx, id);
        return { state };
      });
    },
    catchUp: async (run) => {
      const known = await listConversationsWithFiles(db, { after: run.payload.after, limit: conversationsPerPage });
      const last = known.at(-1);
      if (last === undefined) return;
      const { items } = await bus.call(conversations.rpcs.listStates, { ids: known.map(({ id }) => id) }, run.context);
      const hidden = new Set(known.filter((item) => item.is_hidden).map(({ id }) => id));
      const changed = items.filter(({ id, state }) => state === 'gone' || (state === 'deleted') !== hidden.has(id));
      await run.complete(async (tx) => {
        for (const { id } of changed) await jobs.enqueue(tx, cleanUpJobs.followConversation, { conversation_id: id });
        if (known.length === conversationsPerPage) await jobs.enqueue(tx, cleanUpJobs.catchUp, { after: last.id });
      });
    },
  };
}

/** Enqueues the catch-up once, even when several replicas start together (D97). */
export async function enqueueCatchUp(jobs: Jobs): Promise<void> {
  await jobs.transaction((tx) => jobs.enqueue(tx, cleanUpJobs.catchUp, { after: 0 }, { key: 'start' }));
}

/** Consumes the deletion events of the previous release, in which every deletion was permanent. */
export function consumeDeletions(
  deps: RemovalDependencies & Pick<Dependencies, 'bus' | 'logger'>,
): Promise<RunningConsumer> {
  return consumeEvent(deps, media.consumers.conversationDeleted, conversations.events.deleted, ({ id }) =>
    deps.jobs.transaction((tx) => removeConversationFiles(deps, tx, id)),
  );
}

/**
 * Retires all files of a permanently deleted conversation. The conversation remains marked as deleted, so that a
 * running upload stores nothing.
 */
async function removeConversationFiles(deps: RemovalDependencies, tx: Tx, conversationId: number): Promise<void> {
  await deleteVideohostUploads(tx, { conversationId });
  const recording = await deleteImport(tx, { conversationId });
  if (recording !== undefined) await abandonUpload(tx, { objectKey: recording.object_key });
  await lockConversation(tx, { conversationId });
  await markPermanentlyDeleted(tx, { conversationId });
  const retired = await retireConversationFiles(tx, { conversationId });
  const blobIds = retired.map(({ id }) => id);
  await scheduleBlobDeletion(deps, tx, blobIds);
}
