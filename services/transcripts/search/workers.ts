/** Job `transcripts.index-transcripts`, and the news of conversations that decide who may find what was said in them (T2). */
import type { PayloadOf } from '#libs/contract';
import type { JobHandler, Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import { consumeEvent, newContext, type Bus, type CallContext, type RunningConsumer } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import { maxIndexed } from './contract.ts';
import { indexTranscript } from './index-transcript.ts';
import { createPace } from './pace.ts';
import { dropConversation, findKept, listUnindexed, lockFacts, saveConversation, seeWriters } from './statements/index-rows.ts';

interface Dependencies {
  readonly bus: Bus;
  readonly db: Database;
}

/** What a job has not done by then becomes another job, behind those that came meanwhile; one that is tried again repeats no more than this. */
const usualTurnMs = 60_000;

export function createIndexing({
  bus,
  db,
  jobs,
  turnMs = usualTurnMs,
}: Dependencies & { readonly jobs: Jobs<typeof transcripts>; readonly turnMs?: number | undefined }): JobHandler<
  PayloadOf<typeof transcripts.jobs.indexTranscripts>
> {
  const pace = createPace({ seeWriters: async () => (await seeWriters(db)).writing });
  return async (run) => {
    const ids = run.payload.conversation_ids;
    let startedAt = performance.now();
    const turnEndsAt = startedAt + turnMs;
    await refresh({ bus, db }, ids, run.context);
    for (const [index, id] of ids.entries()) {
      run.signal.throwIfAborted();
      if (index > 0 && startedAt >= turnEndsAt) {
        const left = { conversation_ids: ids.slice(index) };
        return run.complete((tx) => jobs.enqueue(tx, transcripts.jobs.indexTranscripts, left, { requestId: run.requestId }));
      }
      await db.transaction((tx) => indexTranscript(tx, id));
      run.progress((100 * (index + 1)) / ids.length);
      await pace(performance.now() - startedAt, run.signal);
      startedAt = performance.now();
    }
    return undefined;
  };
}

/** What decides is asked anew whenever it has changed. */
export function followConversations({ bus, db, logger }: Dependencies & { readonly logger: Logger }): Promise<RunningConsumer> {
  return consumeEvent({ bus, logger }, transcripts.consumers.conversationChanged, conversations.events.changed, async ({ id }) => {
    if ((await findKept(db, { id })) !== undefined) await refresh({ bus, db }, [id], newContext());
  });
}

/** Conversations that one transaction asks about. */
const refreshedTogether = 100;

/**
 * Conversations that are not there any more are found by nobody. The owner is asked under a lock: of two who ask about a conversation, whoever writes
 * later has asked later, so that nothing that was removed or restricted meanwhile comes back.
 */
export async function refresh({ bus, db }: Dependencies, ids: readonly number[], context: CallContext): Promise<void> {
  for (let first = 0; first < ids.length; first += refreshedTogether) {
    const some = ids.slice(first, first + refreshedTogether);
    await db.transaction((tx) => refreshTogether({ bus, tx }, some, context));
  }
}

async function refreshTogether(
  { bus, tx }: { readonly bus: Pick<Bus, 'call'>; readonly tx: Tx },
  ids: readonly number[],
  context: CallContext,
): Promise<void> {
  await lockFacts(tx, { ids });
  const { items } = await bus.call(conversations.rpcs.listAccessFacts, { ids: [...ids] }, context);
  const found = new Map(items.map((item) => [item.id, item]));
  for (const id of ids) {
    const facts = found.get(id);
    if (facts === undefined) await dropConversation(tx, { id });
    else {
      await saveConversation(tx, {
        id,
        start: facts.start,
        eventId: facts.event_id,
        journeyId: facts.journey_id,
        participantIds: facts.participant_ids,
        version: facts.updated_at,
      });
    }
  }
}

/** Transcripts of releases that had no search; each is indexed once. */
export async function indexWhatIsMissing({ db, jobs }: { readonly db: Database; readonly jobs: Jobs<typeof transcripts> }): Promise<void> {
  for (let after = 0; ;) {
    const missing = await listUnindexed(db, { after, limit: maxIndexed });
    const last = missing.at(-1);
    if (last === undefined) return;
    const ids = missing.map(({ id }) => id);
    await jobs.transaction((tx) =>
      jobs.enqueue(tx, transcripts.jobs.indexTranscripts, { conversation_ids: ids }, { key: `missing/${ids[0]}/${last.id}` }),
    );
    after = last.id;
  }
}
