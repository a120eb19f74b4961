/**
 * Statements that append to the feed and maintain its subjects (V2, V3). Only the lease holder appends: its
 * transactions start with `acquireFeedLease`.
 */
import { type Parameter, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

/**
 * Acquires or renews the lease, and locks its row until the transaction ends, so that two writers never append at once.
 * Returns no row when another process has the lease.
 */
export const acquireFeedLease = statement.maybeOne({
  name: 'feed.hold',
  params: { holder: t.uuid, leaseMs: t.double },
  row: { last_position: t.bigint, stream_sequence: t.bigint },
  sql: ({ holder, leaseMs }) => sql`
    update events.feed_head set holder = ${holder}, held_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where holder = ${holder} or holder is null or held_until < clock_timestamp()
    returning last_position, stream_sequence`,
});

/** Limits the time for which a writer that hangs blocks the others. */
export const setTransactionTimeouts = statement.none({
  name: 'feed.limit',
  sql: () =>
    sql`select set_config('idle_in_transaction_session_timeout', '3s', true), set_config('statement_timeout', '10s', true)`,
});

/** Lets another process acquire the lease at once. */
export const releaseFeedLease = statement.none({
  name: 'feed.release',
  params: { holder: t.uuid },
  sql: ({ holder }) =>
    sql`update events.feed_head set holder = null, held_until = clock_timestamp() where holder = ${holder}`,
});

const columns = {
  services: t.text.array,
  numbers: t.bigint.array,
  ids: t.uuid.array,
  types: t.text.array,
  subjectTypes: t.text.array,
  subjectIds: t.bigint.array,
  data: t.text.array,
  finalEvents: t.boolean.array,
  occurredAt: t.text.array,
};

type Columns = Readonly<Record<keyof typeof columns | 'after', Parameter>>;

/** Inserts events in order, starting at position `after` + 1. */
const appendSql = ({
  services,
  numbers,
  ids,
  types,
  subjectTypes,
  subjectIds,
  data,
  finalEvents,
  occurredAt,
  after,
}: Columns): Sql => sql`
    insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
    select ${after} + i.place, i.occurred_at::timestamptz, i.service, i.number, i.id, i.type, i.subject_type, i.subject_id, i.data::json,
      i.farewell
    from unnest(${services}, ${numbers}, ${ids}, ${types}, ${subjectTypes}, ${subjectIds}, ${data}, ${finalEvents}, ${occurredAt})
      with ordinality as i (service, number, id, type, subject_type, subject_id, data, farewell, occurred_at, place)
    order by i.place`;

/**
 * Fails with a unique violation when the feed already contains one of the events. Duplicates are rare, and a check
 * would add a third to the work.
 */
export const appendNew = statement.none({
  name: 'feed.append-new',
  params: { ...columns, after: t.bigint },
  sql: appendSql,
});

/** Inserts events, but skips events that the feed already contains. */
export const appendMissing = statement.many({
  name: 'feed.append-missing',
  params: { ...columns, after: t.bigint },
  row: { position: t.bigint },
  sql: (named) => sql`${appendSql(named)} on conflict do nothing returning position`,
});

/**
 * Updates the subjects of appended events; `access` is null when it did not change. Unchanged rows are skipped, because
 * an upsert would lock and write them.
 */
export const upsertSubjects = statement.none({
  name: 'feed.touch-subjects',
  params: {
    types: t.text.array,
    ids: t.bigint.array,
    access: t.text.arrayWithNulls,
    finalEvents: t.boolean.array,
    positions: t.bigint.array,
  },
  sql: ({ types, ids, access, finalEvents, positions }) => sql`
    insert into events.subjects as s (type, id, known, holons, people, gone, last_position)
    select i.type, i.id, i.access is not null,
      array(select json_array_elements_text(i.access::json -> 'holons')::integer),
      array(select json_array_elements_text(i.access::json -> 'people')::integer),
      i.farewell, i.position
    from unnest(${types}, ${ids}, ${access}, ${finalEvents}, ${positions}) as i (type, id, access, farewell, position)
    where i.access is not null or not coalesce((select b.last_position >= i.position and (b.gone or not i.farewell)
      from events.subjects b where b.type = i.type and b.id = i.id), false)
    on conflict (type, id) do update set
      known = s.known or excluded.known,
      holons = case when excluded.known then excluded.holons else s.holons end,
      people = case when excluded.known then excluded.people else s.people end,
      gone = excluded.gone or (s.gone and not excluded.known),
      last_position = excluded.last_position`,
});

export const advanceHead = statement.none({
  name: 'feed.advance',
  params: { position: t.bigint, sequence: t.bigint },
  sql: ({ position, sequence }) =>
    sql`update events.feed_head set last_position = ${position}, stream_sequence = ${sequence}`,
});

/** Deletes subjects without events in the feed, up to `limit` per type. */
export const deleteSubjects = statement.one({
  name: 'feed.drop-subjects',
  params: { types: t.text.array, limit: t.integer },
  row: { count: t.bigint },
  sql: ({ types, limit }) => sql`
    with deleted as (
      delete from events.subjects where (type, id) in (
        select s.type, s.id from unnest(${types}) as kind (type) cross join lateral (
          select type, id from events.subjects
          where type = kind.type and last_position <= (select floor_position from events.feed_head)
          order by last_position limit ${limit}) s)
      returning 1)
    select count(*) from deleted`,
});

/** Returns subjects without stored access. */
export const listWithoutAccess = statement.many({
  name: 'feed.list-unknown',
  params: { type: t.text, limit: t.integer },
  row: { id: t.bigint },
  sql: ({ type, limit }) =>
    sql`select id from events.subjects where not known and type = ${type} order by id limit ${limit}`,
});

/** Stores the access of subjects without stored access. */
export const storeAccess = statement.none({
  name: 'feed.learn',
  params: { type: t.text, ids: t.bigint.array, access: t.text.array },
  sql: ({ type, ids, access }) => sql`
    update events.subjects s set known = true,
      holons = array(select json_array_elements_text(i.access::json -> 'holons')::integer),
      people = array(select json_array_elements_text(i.access::json -> 'people')::integer)
    from unnest(${ids}, ${access}) as i (id, access)
    where s.type = ${type} and s.id = i.id and not s.known`,
});
