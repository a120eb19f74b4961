/** Removal of what belongs to deleted conversations. */
import type { Logger } from '#libs/logger';
import { type Bus, followEvent, type RunningConsumer } from '#libs/nats';
import type { Database } from '#libs/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import { forgetConversation } from '../repositories/evidence.ts';

export function consumeDeletions(deps: { bus: Bus; db: Database; logger: Logger }): Promise<RunningConsumer> {
  return followEvent(deps, transcripts.consumers.conversationDeleted, conversations.events.deleted, ({ id }) =>
    deps.db.transaction((tx) => forgetConversation(tx, id)),
  );
}
