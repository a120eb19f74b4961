/** Removal of what belongs to conversations that are gone for good. */
import type { PayloadOf } from '#libs/contract';
import type { JobHandler } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import { type Bus, consumeEvent, type RunningConsumer } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import { lockConversation } from '../evidence/index.ts';
import { lockFacts } from '../search/index.ts';
import * as statements from './statements.ts';

/** Waits for whoever writes the conversation, or has asked what decides about it. */
export async function forget(tx: Tx, id: number): Promise<void> {
  await lockConversation(tx, { conversationId: id });
  await lockFacts(tx, { ids: [id] });
  await statements.forgetConversation(tx, { id });
}

/** Job `transcripts.forget-conversation`. */
export const forgetConversation: JobHandler<PayloadOf<typeof transcripts.jobs.forgetConversation>> = (run) =>
  run.complete((tx) => forget(tx, run.payload.conversation_id));

/** Follows the deletions of the previous release, which published an event. */
export function consumeDeletions(deps: { bus: Bus; db: Database; logger: Logger }): Promise<RunningConsumer> {
  return consumeEvent(deps, transcripts.consumers.conversationDeleted, conversations.events.deleted, ({ id }) =>
    deps.db.transaction((tx) => forget(tx, id)),
  );
}
