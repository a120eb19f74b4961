/**
 * Job `transcripts.catch-up` (D97): enqueued at each start and after long outages, because events that were published meanwhile may be gone. Conversations are
 * compared with their owner; nothing that was deleted or restricted meanwhile is found.
 */
import type { PayloadOf } from '#libs/contract';
import type { JobHandler, Jobs } from '#libs/jobs';
import type { Bus, CallContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import { listKnown } from './statements.ts';

interface Dependencies {
  readonly bus: Bus;
  readonly db: Database;
  readonly jobs: Jobs<typeof transcripts>;
  /** Removes everything of a conversation that is gone for good. */
  readonly forget: (tx: Tx, id: number) => Promise<void>;
  /** Asks anew who may find what was said in these conversations. */
  readonly refresh: (ids: readonly number[], context: CallContext) => Promise<void>;
}

const conversationsPerPage = 1_000;

export function createCatchUp({ bus, db, jobs, forget, refresh }: Dependencies): JobHandler<PayloadOf<typeof transcripts.jobs.catchUp>> {
  return async (run) => {
    const ids = (await listKnown(db, { after: run.payload.after, limit: conversationsPerPage })).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    const { items } = await bus.call(conversations.rpcs.listStates, { ids }, run.context);
    const gone = items.filter(({ state }) => state === 'gone').map(({ id }) => id);
    for (const id of gone) await db.transaction((tx) => forget(tx, id));
    const kept = ids.filter((id) => !gone.includes(id));
    if (kept.length > 0) await refresh(kept, run.context);
    if (ids.length === conversationsPerPage) await run.complete((tx) => jobs.enqueue(tx, transcripts.jobs.catchUp, { after: last }));
  };
}

/** Once for replicas that start together. */
export async function enqueueCatchUp(jobs: Jobs<typeof transcripts>): Promise<void> {
  await jobs.transaction((tx) => jobs.enqueue(tx, transcripts.jobs.catchUp, { after: 0 }, { key: 'start' }));
}
