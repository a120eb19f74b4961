/** What keeps the feed: its writer, what is learned of subjects that nobody has described, and subjects whose events have ended (V2 to V4). */
import { feedSubjects } from '#libs/contract';
import type { Logger } from '#libs/logger';
import { type Bus, newContext } from '#libs/nats';
import type { Database } from '#libs/orm';
import { removeInBatches } from '#libs/retention';
import type { Metrics } from '#libs/telemetry';
import { conversations } from '#services/conversations';
import type { EventsConfig } from '../config.ts';
import { dropSubjects, learnSubjects, listUnknown } from './statements/write.ts';
import { FeedWriter } from './writer.ts';

const mostLearned = 1_000;

interface Dependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly config: Pick<EventsConfig, 'EVENTS_RETENTION_DAYS'>;
}

export function createFeedWriter({ metrics, config, ...deps }: Dependencies): FeedWriter {
  const appended = metrics.counter('feed_events_total', 'Events that entered the feed', ['type']);
  const delay = metrics.histogram('feed_delay_seconds', 'From a change to its place in the feed', [], [0.1, 0.25, 0.5, 1, 2, 5, 15, 60]);
  const writer = new FeedWriter({
    ...deps,
    retentionDays: config.EVENTS_RETENTION_DAYS,
    onAppended: (events) => {
      const nowMs = Date.now();
      for (const [type, { length }] of Map.groupBy(events, (event) => event.type)) appended.inc({ type }, length);
      for (const { occurred_at: at } of events) delay.observe({}, Math.max(0, nowMs - Date.parse(at)) / 1_000);
    },
  });
  metrics.gauge('feed_writer', '1 where this process writes the feed', [], (gauge) => gauge.set(writer.writes ? 1 : 0));
  return writer;
}

/** Asks the owners who may read what others told of first. Until then they are asked about each page. */
export async function learnAccess({ db, bus }: Pick<Dependencies, 'db' | 'bus'>): Promise<void> {
  const unknown = await listUnknown(db, { type: 'conversation', limit: mostLearned });
  if (unknown.length === 0) return;
  const { items } = await bus.call(conversations.rpcs.listAccessFacts, { ids: unknown.map(({ id }) => id) }, newContext());
  await learnSubjects(db, {
    type: 'conversation',
    ids: items.map(({ id }) => id),
    access: items.map((item) => JSON.stringify({ holons: item.event_id === null ? [] : [item.event_id], people: item.participant_ids })),
  });
}

/** Removes subjects of which nothing is kept. */
export async function forgetSubjects({ db, signal }: Pick<Dependencies, 'db'> & { readonly signal?: AbortSignal }): Promise<void> {
  await removeInBatches({ remove: async (limit) => (await dropSubjects(db, { types: [...feedSubjects], limit })).count, signal });
}
