/** Removal of what belongs to conversations that are gone for good. */
import type { PayloadOf } from '#libs/contract';
import type { JobHandler } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import { type Bus, followEvent, type RunningConsumer } from '#libs/nats';
import type { Database } from '#libs/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import { forgetConversation as forget } from './statements.ts';

/** Job `transcripts.forget-conversation`. */
export const forgetConversation: JobHandler<PayloadOf<typeof transcripts.jobs.forgetConversation>> = (run) =>
  run.complete((tx) => forget(tx, run.payload.conversation_id));

/** Follows the deletions of the previous release, which told an event. */
export function consumeDeletions(deps: { bus: Bus; db: Database; logger: Logger }): Promise<RunningConsumer> {
  return followEvent(deps, transcripts.consumers.conversationDeleted, conversations.events.deleted, ({ id }) =>
    deps.db.transaction((tx) => forget(tx, id)),
  );
}
