/** What other services have of a person who was merged (I3): asked page by page, and as often as it takes; each step finds less to do when repeated. */
import type { Bus, CallContext } from '#libs/nats';
import { conversations } from '#services/conversations';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { Merge } from './merge.ts';

export async function finishMerge(bus: Bus, { goneId, intoId }: Merge, context: CallContext): Promise<void> {
  for (const rpc of [conversations.rpcs.mergePerson, transcripts.rpcs.mergePerson, media.rpcs.mergePerson, events.rpcs.mergePerson]) {
    for (let after: number | null = 0; after !== null;) {
      const page: { next: number | null } = await bus.call(rpc, { gone_id: goneId, into_id: intoId, after }, context);
      after = page.next;
    }
  }
}
