import type { PayloadOf } from '#libs/contract';
import type { JobHandler } from '#libs/jobs';
import type { Bus } from '#libs/nats';
import type { directory } from '../contract.ts';
import { finishMerge } from './finish.ts';

/** Job `directory.finish-merge`: a merge that was killed after its first step ends as one that was not. */
export function createFinishMerge(bus: Bus): JobHandler<PayloadOf<typeof directory.jobs.finishMerge>> {
  return ({ payload, context }) => finishMerge(bus, { goneId: payload.gone_id, intoId: payload.into_id }, context);
}
