/** Statements on what a service has told and the stream does not have yet. */
import { type RowOf, type Sql, type SqlPart, sql, statement, t } from '#libs/sql';
import type { FeedEvent } from '#libs/contract';

/** In the order in which they were told. */
export const insertTold = statement.none({
  name: 'feed.tell',
  params: {
    types: t.text.array,
    subjectTypes: t.text.array,
    subjectIds: t.bigint.array,
    data: t.text.array,
    access: t.text.arrayWithNulls,
    farewells: t.boolean.array,
  },
  sql: ({ types, subjectTypes, subjectIds, data, access, farewells }) => sql`
    insert into feed_outbox (type, subject_type, subject_id, data, access, farewell)
    select i.type, i.subject_type, i.subject_id, i.data::json, i.access::json, i.farewell
    from unnest(${types}, ${subjectTypes}, ${subjectIds}, ${data}, ${access}, ${farewells})
      with ordinality as i (type, subject_type, subject_id, data, access, farewell, place)
    order by i.place`,
});

/**
 * Tells in the statement of the change itself, for writes that are one statement: a `with` query that reads what the change returned. Its row is
 * locked by then, as `feedTables` wants it.
 */
export function tellSql({ type, subject }: FeedEvent, { subjectId, from }: { subjectId: SqlPart; from: Sql }): Sql {
  return sql`insert into feed_outbox (type, subject_type, subject_id, data)
    select ${sql.literal(type)}, ${sql.literal(subject)}, ${subjectId}, '{}' ${from}`;
}

/** One process at a time sends, until its transaction ends: what two would send could arrive in another order. */
export const takeTurn = statement.none({
  name: 'feed.turn',
  sql: () => sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.feed', 0))`,
});

/** A process that hangs while it has the turn loses it. Its commit waits for no disk: rows that are there again after a crash are sent again. */
export const limitTurn = statement.none({
  name: 'feed.limit-turn',
  sql: () => sql`select set_config('idle_in_transaction_session_timeout', '4s', true), set_config('synchronous_commit', 'off', true)`,
});

const toldRow = {
  number: t.bigint,
  type: t.text,
  subject_type: t.text,
  subject_id: t.bigint,
  data: t.json,
  access: t.json.nullable,
  farewell: t.boolean,
  occurred_at: t.timestamp,
};
export type ToldRow = RowOf<typeof toldRow>;

/** The first ones, in no order; they are gone when the transaction commits. */
export const takeTold = statement.many({
  name: 'feed.take-told',
  params: { limit: t.integer },
  row: toldRow,
  sql: ({ limit }) => sql`
    delete from feed_outbox where ctid = any(array(select ctid from feed_outbox order by number limit ${limit}))
    returning number, type, subject_type, subject_id, data, access, farewell, occurred_at at time zone 'UTC' as occurred_at`,
});

/** Whether something waits, without taking the turn. */
export const findTold = statement.maybeOne({
  name: 'feed.find-told',
  row: { number: t.bigint },
  pipelined: true,
  sql: () => sql`select number from feed_outbox order by number limit 1`,
});

/** Age of what waits longest, seconds. */
export const readToldAge = statement.one({
  name: 'feed.told-age',
  row: { seconds: t.double },
  sql: () => sql`
    select coalesce(extract(epoch from clock_timestamp() - (select occurred_at from feed_outbox order by number limit 1)), 0)::float8 as seconds`,
});
