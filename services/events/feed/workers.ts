/** Background work of the feed: its writer, missing access of subjects, and subjects without events (V2 to V4). */
import { feedSubjects } from '#libs/infrastructure/contract';
import { newContext } from '#libs/infrastructure/nats';
import { removeInBatches } from '#libs/infrastructure/retention';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../dependencies.ts';
import { deleteSubjects, listWithoutAccess, storeAccess } from './statements/write.ts';
import { FeedWriter } from './writer.ts';

const maxSubjects = 1_000;

type WriterDependencies = Pick<Dependencies, 'bus' | 'config' | 'db' | 'logger' | 'metrics'>;

export function createFeedWriter({ metrics, config, ...deps }: WriterDependencies): FeedWriter {
  const appended = metrics.counter('feed_events_total', 'Events that entered the feed', ['type']);
  const delay = metrics.histogram(
    'feed_delay_seconds',
    'From a change to its place in the feed',
    [],
    [0.1, 0.25, 0.5, 1, 2, 5, 15, 60],
  );
  const writer = new FeedWriter({
    ...deps,
    retentionDays: config.EVENTS_RETENTION_DAYS,
    onAppended: (events) => {
      const nowMs = Date.now();
      for (const [type, { length }] of Map.groupBy(events, (event) => event.type)) appended.inc({ type }, length);
      for (const { occurred_at: at } of events) delay.observe({}, Math.max(0, nowMs - Date.parse(at)) / 1_000);
    },
  });
  metrics.gauge('feed_writer', '1 where this process writes the feed', [], (gauge) =>
    gauge.set(writer.isActive ? 1 : 0),
  );
  return writer;
}

/**
 * Fetches missing access of subjects from their owners. Access is missing when another service published the first
 * event of a subject.
 */
export async function fetchAccess({ db, bus }: Pick<Dependencies, 'db' | 'bus'>): Promise<void> {
  const subjects = await listWithoutAccess(db, { type: 'conversation', limit: maxSubjects });
  if (subjects.length === 0) return;
  const { items } = await bus.call(
    conversations.rpcs.listAccessFacts,
    { ids: subjects.map(({ id }) => id) },
    newContext(),
  );
  await storeAccess(db, {
    type: 'conversation',
    ids: items.map(({ id }) => id),
    access: items.map((item) =>
      JSON.stringify({ holons: item.event_id === null ? [] : [item.event_id], people: item.participant_ids }),
    ),
  });
}

/** Removes subjects without events. */
export async function removeSubjects({
  db,
  signal,
}: Pick<Dependencies, 'db'> & { readonly signal?: AbortSignal }): Promise<void> {
  await removeInBatches({
    remove: async (limit) => (await deleteSubjects(db, { types: [...feedSubjects], limit })).count,
    signal,
  });
}
