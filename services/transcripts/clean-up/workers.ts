/** Jobs that remove the data of permanently deleted conversations and find missed deletions and changes. */
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobHandler, Jobs } from '#libs/infrastructure/jobs';
import { consumeEvent, type RunningConsumer } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { lockConversation } from '../evidence/index.ts';
import { lockAccessFacts, refreshAccessFacts } from '../search/index.ts';
import { cleanUpJobs } from './contract.ts';
import { forgetConversation, listStoredConversations } from './statements.ts';

type CleanUpWorkers = { readonly [K in keyof typeof cleanUpJobs]: JobHandler<PayloadOf<(typeof cleanUpJobs)[K]>> };

const conversationsPerPage = 1_000;

/** Deletes all stored data of a conversation. Waits for running writes and refreshes of the conversation. */
export async function deleteConversationData(tx: Tx, id: number): Promise<void> {
  await lockConversation(tx, { conversationId: id });
  await lockAccessFacts(tx, { ids: [id] });
  await forgetConversation(tx, { id });
}

export function createCleanUpWorkers({ bus, db, jobs }: Pick<Dependencies, 'bus' | 'db' | 'jobs'>): CleanUpWorkers {
  return {
    forgetConversation: (run) => run.complete((tx) => deleteConversationData(tx, run.payload.conversation_id)),
    catchUp: async (run) => {
      const ids = (await listStoredConversations(db, { after: run.payload.after, limit: conversationsPerPage })).map(
        ({ id }) => id,
      );
      const last = ids.at(-1);
      if (last === undefined) return;
      const { items } = await bus.call(conversations.rpcs.listStates, { ids }, run.context);
      const deleted = items.filter(({ state }) => state === 'gone').map(({ id }) => id);
      for (const id of deleted) await db.transaction((tx) => deleteConversationData(tx, id));
      const existing = ids.filter((id) => !deleted.includes(id));
      if (existing.length > 0) await refreshAccessFacts({ bus, db }, existing, run.context);
      if (ids.length === conversationsPerPage)
        await run.complete((tx) => jobs.enqueue(tx, cleanUpJobs.catchUp, { after: last }));
    },
  };
}

/** Enqueues the catch-up job. Several replicas that start together enqueue only one (D97). */
export async function enqueueCatchUp(jobs: Jobs): Promise<void> {
  await jobs.transaction((tx) => jobs.enqueue(tx, cleanUpJobs.catchUp, { after: 0 }, { key: 'start' }));
}

/** Consumes the deletion events of the previous release. */
export function consumeDeletions({
  bus,
  db,
  logger,
}: Pick<Dependencies, 'bus' | 'db' | 'logger'>): Promise<RunningConsumer> {
  return consumeEvent(
    { bus, logger },
    transcripts.consumers.conversationDeleted,
    conversations.events.deleted,
    ({ id }) => db.transaction((tx) => deleteConversationData(tx, id)),
  );
}
