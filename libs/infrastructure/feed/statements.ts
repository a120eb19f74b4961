/** Statements on the event outbox of a service. The outbox has the events that are not in the stream FEED yet. */
import { type RowOf, type Sql, type SqlPart, sql, statement, t } from '#libs/infrastructure/sql';
import type { FeedEvent } from '#libs/infrastructure/contract';

/** Inserts events in the order of the arrays. */
export const insertOutbox = statement.none({
  name: 'feed.tell',
  params: {
    types: t.text.array,
    subjectTypes: t.text.array,
    subjectIds: t.bigint.array,
    data: t.text.array,
    access: t.text.arrayWithNulls,
    finalEvents: t.boolean.array,
  },
  sql: ({ types, subjectTypes, subjectIds, data, access, finalEvents }) => sql`
    insert into feed_outbox (type, subject_type, subject_id, data, access, farewell)
    select i.type, i.subject_type, i.subject_id, i.data::json, i.access::json, i.farewell
    from unnest(${types}, ${subjectTypes}, ${subjectIds}, ${data}, ${access}, ${finalEvents})
      with ordinality as i (type, subject_type, subject_id, data, access, farewell, place)
    order by i.place`,
});

/**
 * Returns a `with` query that inserts an event in the same statement as its change. The subject is read from the rows
 * that the change returned, so the row of the subject is locked as `feedTables` requires.
 */
export function insertEventSql(
  { type, subject }: FeedEvent,
  { subjectId, from }: { subjectId: SqlPart; from: Sql },
): Sql {
  return sql`insert into feed_outbox (type, subject_type, subject_id, data)
    select ${sql.literal(type)}, ${sql.literal(subject)}, ${subjectId}, '{}' ${from}`;
}

/**
 * Acquires the lock that one process holds while it publishes, until its transaction ends. Two publishing processes
 * could store messages in the wrong order.
 */
export const lockOutbox = statement.none({
  name: 'feed.turn',
  sql: () => sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.feed', 0))`,
});

/**
 * Limits how long a hanging process can hold the lock. The commit does not wait for the disk: rows that reappear after
 * a crash are published again.
 */
export const setLockTimeout = statement.none({
  name: 'feed.limit-turn',
  sql: () =>
    sql`select set_config('idle_in_transaction_session_timeout', '4s', true), set_config('synchronous_commit', 'off', true)`,
});

const outboxRow = {
  number: t.bigint,
  type: t.text,
  subject_type: t.text,
  subject_id: t.bigint,
  data: t.json,
  access: t.json.nullable,
  farewell: t.boolean,
  occurred_at: t.timestamp,
};
export type OutboxRow = RowOf<typeof outboxRow>;

/** Deletes the oldest rows and returns them in any order. */
export const claimOutbox = statement.many({
  name: 'feed.take-told',
  params: { limit: t.integer },
  row: outboxRow,
  sql: ({ limit }) => sql`
    delete from feed_outbox where ctid = any(array(select ctid from feed_outbox order by number limit ${limit}))
    returning number, type, subject_type, subject_id, data, access, farewell, occurred_at at time zone 'UTC' as occurred_at`,
});

/** Returns the number of the oldest row, without acquiring the lock. */
export const findOutboxRow = statement.maybeOne({
  name: 'feed.find-told',
  row: { number: t.bigint },
  pipelined: true,
  sql: () => sql`select number from feed_outbox order by number limit 1`,
});

/** Returns the age of the oldest row in seconds; 0 when the outbox is empty. */
export const readOutboxAge = statement.one({
  name: 'feed.told-age',
  row: { seconds: t.double },
  sql: () => sql`
    select coalesce(extract(epoch from clock_timestamp() - (select occurred_at from feed_outbox order by number limit 1)), 0)::float8 as seconds`,
});
