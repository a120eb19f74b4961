/** Statements by which the feed grows and ends (V2, V3). Only who holds the lease appends: `holdFeed` is the first statement of its transactions. */
import { type Parameter, type Sql, sql, statement, t } from '#libs/sql';

/**
 * Takes or keeps the right to write. Its row is locked until the end of the transaction, so that two never append at once, and who lost the lease
 * meanwhile finds that out here. No row: somebody else holds it.
 */
export const holdFeed = statement.maybeOne({
  name: 'feed.hold',
  params: { holder: t.uuid, lease: t.double },
  row: { last_position: t.bigint, stream_sequence: t.bigint },
  sql: ({ holder, lease }) => sql`
    update events.feed_head set holder = ${holder}, held_until = clock_timestamp() + ${lease} * interval '1 millisecond'
    where holder = ${holder} or holder is null or held_until < clock_timestamp()
    returning last_position, stream_sequence`,
});

/** A writer that hangs in a transaction keeps nobody else from writing for long. */
export const limitTransaction = statement.none({
  name: 'feed.limit',
  sql: () => sql`select set_config('idle_in_transaction_session_timeout', '3s', true), set_config('statement_timeout', '10s', true)`,
});

/** Somebody else may write at once. */
export const releaseFeed = statement.none({
  name: 'feed.release',
  params: { holder: t.uuid },
  sql: ({ holder }) => sql`update events.feed_head set holder = null, held_until = clock_timestamp() where holder = ${holder}`,
});

const places = {
  services: t.text.array,
  numbers: t.bigint.array,
  ids: t.uuid.array,
  types: t.text.array,
  subjectTypes: t.text.array,
  subjectIds: t.bigint.array,
  data: t.text.array,
  farewells: t.boolean.array,
  occurredAt: t.text.array,
};

type Places = Readonly<Record<keyof typeof places | 'after', Parameter>>;

/** In their order, behind `after`. `place` counts from 1. */
const appendSql = ({ services, numbers, ids, types, subjectTypes, subjectIds, data, farewells, occurredAt, after }: Places): Sql => sql`
    insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
    select ${after} + i.place, i.occurred_at::timestamptz, i.service, i.number, i.id, i.type, i.subject_type, i.subject_id, i.data::json,
      i.farewell
    from unnest(${services}, ${numbers}, ${ids}, ${types}, ${subjectTypes}, ${subjectIds}, ${data}, ${farewells}, ${occurredAt})
      with ordinality as i (service, number, id, type, subject_type, subject_id, data, farewell, occurred_at, place)
    order by i.place`;

/** Fails when the feed has one of them: that is seldom, and to look for it first costs a third of the work. */
export const appendNew = statement.none({ name: 'feed.append-new', params: { ...places, after: t.bigint }, sql: appendSql });

/** Those that the feed has are left out. */
export const appendMissing = statement.many({
  name: 'feed.append-missing',
  params: { ...places, after: t.bigint },
  row: { position: t.bigint },
  sql: (named) => sql`${appendSql(named)} on conflict do nothing returning position`,
});

/**
 * What is known of subjects after their last events; `access` is null where nobody said anything new. Rows of which nothing changes are not touched:
 * an upsert would lock and write them. They are looked up by their key alone: behind its last position much may have happened.
 */
export const touchSubjects = statement.none({
  name: 'feed.touch-subjects',
  params: {
    types: t.text.array,
    ids: t.bigint.array,
    access: t.text.arrayWithNulls,
    farewells: t.boolean.array,
    positions: t.bigint.array,
  },
  sql: ({ types, ids, access, farewells, positions }) => sql`
    insert into events.subjects as s (type, id, known, holons, people, gone, last_position)
    select i.type, i.id, i.access is not null,
      array(select json_array_elements_text(i.access::json -> 'holons')::integer),
      array(select json_array_elements_text(i.access::json -> 'people')::integer),
      i.farewell, i.position
    from unnest(${types}, ${ids}, ${access}, ${farewells}, ${positions}) as i (type, id, access, farewell, position)
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
  sql: ({ position, sequence }) => sql`update events.feed_head set last_position = ${position}, stream_sequence = ${sequence}`,
});

/** Subjects of which no event is kept; of each type so many at most. */
export const dropSubjects = statement.one({
  name: 'feed.drop-subjects',
  params: { types: t.text.array, limit: t.integer },
  row: { count: t.bigint },
  sql: ({ types, limit }) => sql`
    with gone as (
      delete from events.subjects where (type, id) in (
        select s.type, s.id from unnest(${types}) as kind (type) cross join lateral (
          select type, id from events.subjects
          where type = kind.type and last_position <= (select floor_position from events.feed_head)
          order by last_position limit ${limit}) s)
      returning 1)
    select count(*) from gone`,
});

/** Subjects of which nobody has said who may read them. */
export const listUnknown = statement.many({
  name: 'feed.list-unknown',
  params: { type: t.text, limit: t.integer },
  row: { id: t.bigint },
  sql: ({ type, limit }) => sql`select id from events.subjects where not known and type = ${type} order by id limit ${limit}`,
});

export const learnSubjects = statement.none({
  name: 'feed.learn',
  params: { type: t.text, ids: t.bigint.array, access: t.text.array },
  sql: ({ type, ids, access }) => sql`
    update events.subjects s set known = true,
      holons = array(select json_array_elements_text(i.access::json -> 'holons')::integer),
      people = array(select json_array_elements_text(i.access::json -> 'people')::integer)
    from unnest(${ids}, ${access}) as i (id, access)
    where s.type = ${type} and s.id = i.id and not s.known`,
});
