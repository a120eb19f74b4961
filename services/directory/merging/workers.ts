/** Merges a person in the other services, page by page. Each step can be repeated (I3). */
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobHandler } from '#libs/infrastructure/jobs';
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import { conversations } from '#services/conversations';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { Dependencies } from '../dependencies.ts';
import type { mergingJobs } from './contract.ts';
import type { Merge } from './merge.ts';

export async function finishMerge(bus: Bus, { mergedId, intoId }: Merge, context: CallContext): Promise<void> {
  for (const rpc of [
    conversations.rpcs.mergePerson,
    transcripts.rpcs.mergePerson,
    media.rpcs.mergePerson,
    events.rpcs.mergePerson,
  ]) {
    for (let after: number | null = 0; after !== null;) {
      const page: { next: number | null } = await bus.call(rpc, { gone_id: mergedId, into_id: intoId, after }, context);
      after = page.next;
    }
  }
}

/** Returns the handler of the job `directory.finish-merge`, which completes a merge whose request was interrupted. */
export function createFinishMerge({
  bus,
}: Pick<Dependencies, 'bus'>): JobHandler<PayloadOf<typeof mergingJobs.finishMerge>> {
  return ({ payload, context }) => finishMerge(bus, { mergedId: payload.gone_id, intoId: payload.into_id }, context);
}
