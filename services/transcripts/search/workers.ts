/** Job `transcripts.index-transcripts`, and the consumer of events that change the access to a conversation (T2). */
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobHandler } from '#libs/infrastructure/jobs';
import { consumeEvent, newContext, type RunningConsumer } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import { transcripts } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { lockForWriting } from '../evidence/index.ts';
import { erasedText } from '../person-data/contract.ts';
import { maxIndexed, searchJobs } from './contract.ts';
import { refreshAccessFacts } from './index.ts';
import { toTsvector } from './rules/words.ts';
import {
  clearSegments,
  findIndexed,
  findOutdatedRows,
  hasWriters,
  insertSegments,
  listNextRows,
  listUnindexed,
  raiseWorkMem,
} from './statements/index-rows.ts';

/**
 * Maximum duration of a run. The run then enqueues another job for the remaining transcripts, so that later jobs are
 * not blocked and a retry repeats little.
 */
const defaultMaxRunMs = 60_000;
const rowsPerPage = 1_000;

/** Ratio of pause to work while an import is running. */
const restFactor = 4;
const maxRestMs = 10_000;
/**
 * Time without writers after which an import counts as finished, since an import writes no rows between two of its
 * transactions.
 */
const quietMs = 2_000;

export function createIndexTranscripts(
  { bus, db, jobs }: Pick<Dependencies, 'bus' | 'db' | 'jobs'>,
  maxRunMs = defaultMaxRunMs,
): JobHandler<PayloadOf<typeof searchJobs.indexTranscripts>> {
  const throttle = createImportThrottle({ hasWriters: async () => (await hasWriters(db)).writing });
  return async (run) => {
    const ids = run.payload.conversation_ids;
    let startedAt = performance.now();
    const endsAt = startedAt + maxRunMs;
    await refreshAccessFacts({ bus, db }, ids, run.context);
    for (const [index, id] of ids.entries()) {
      run.signal.throwIfAborted();
      if (index > 0 && startedAt >= endsAt) {
        const remaining = { conversation_ids: ids.slice(index) };
        return run.complete((tx) =>
          jobs.enqueue(tx, searchJobs.indexTranscripts, remaining, { requestId: run.requestId }),
        );
      }
      await db.transaction((tx) => indexTranscript(tx, id));
      run.progress((100 * (index + 1)) / ids.length);
      await throttle(performance.now() - startedAt, run.signal);
      startedAt = performance.now();
    }
    return undefined;
  };
}

/**
 * Replaces the indexed words of a conversation with the words of its current rows. Erased text and rows that may be
 * outside the window are not indexed.
 */
async function indexTranscript(tx: Tx, conversationId: number): Promise<void> {
  const exists = await lockForWriting(tx, conversationId);
  await clearSegments(tx, { ids: [conversationId] });
  if (!exists || (await findOutdatedRows(tx, { conversationId })) !== undefined) return;
  await raiseWorkMem(tx);
  let index = 0;
  for (let after = { afterStart: Number.MIN_SAFE_INTEGER, afterPosition: 0 }; ;) {
    const page = await listNextRows(tx, { conversationId, ...after, limit: rowsPerPage });
    const last = page.at(-1);
    if (last === undefined) return;
    const firstIndex = index;
    index += page.length;
    const rows = page
      .map((row, offset) => ({ ...row, index: firstIndex + offset }))
      .filter(({ text }) => text !== erasedText);
    await insertSegments(tx, {
      conversationId,
      indexes: rows.map((row) => row.index),
      starts: rows.map((row) => row.start_us),
      positions: rows.map((row) => row.position),
      personIds: rows.map((row) => row.person_id),
      vectors: rows.map((row) => toTsvector(row.text)),
    });
    if (page.length < rowsPerPage) return;
    after = { afterStart: last.start_us, afterPosition: last.position };
    await nextTick();
  }
}

/** Consumes conversation changes and refreshes the access facts of the changed conversations. */
export function consumeChanges({
  bus,
  db,
  logger,
}: Pick<Dependencies, 'bus' | 'db' | 'logger'>): Promise<RunningConsumer> {
  return consumeEvent(
    { bus, logger },
    transcripts.consumers.conversationChanged,
    conversations.events.changed,
    async ({ id }) => {
      if ((await findIndexed(db, { id })) !== undefined) await refreshAccessFacts({ bus, db }, [id], newContext());
    },
  );
}

/** Enqueues indexing of transcripts from releases without search. Each transcript is enqueued once. */
export async function indexMissingTranscripts({ db, jobs }: Pick<Dependencies, 'db' | 'jobs'>): Promise<void> {
  for (let after = 0; ;) {
    const missing = await listUnindexed(db, { after, limit: maxIndexed });
    const last = missing.at(-1);
    if (last === undefined) return;
    const ids = missing.map(({ id }) => id);
    await jobs.transaction((tx) =>
      jobs.enqueue(tx, searchJobs.indexTranscripts, { conversation_ids: ids }, { key: `missing/${ids[0]}/${last.id}` }),
    );
    after = last.id;
  }
}

/** Called after each step of work with its duration in milliseconds. It pauses while an import is running. */
export type ImportThrottle = (workedMs: number, signal: AbortSignal) => Promise<void>;

export interface ThrottleOptions {
  /** Returns whether any process is writing transcript rows. */
  readonly hasWriters: () => Promise<boolean>;
  readonly now?: () => number;
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Creates a throttle that slows background work down while an import is running, so that imports do not slow down (T3).
 */
export function createImportThrottle({
  hasWriters: seesWriters,
  now = () => performance.now(),
  rest = (ms, signal) => sleep(ms, undefined, { signal }),
}: ThrottleOptions): ImportThrottle {
  let writersSeenAt = -Infinity;
  return async (workedMs, signal) => {
    if (await seesWriters()) writersSeenAt = now();
    if (now() - writersSeenAt <= quietMs) await rest(Math.min(maxRestMs, workedMs * restFactor), signal);
  };
}
