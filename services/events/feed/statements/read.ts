/**
 * Statements that read the feed (V3, V4). They filter by the caller's current access and by the stored access of each
 * subject; the owners check the subjects of a page again.
 */
import { type Parameter, type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

export const readHead = statement.one({
  name: 'feed.head',
  row: { last_position: t.bigint, floor_position: t.bigint },
  pipelined: true,
  sql: () => sql`select last_position, floor_position from events.feed_head`,
});

/** Returns the age of an event in hours; returns no row when the event is removed. */
export const findAge = statement.maybeOne({
  name: 'feed.age',
  params: { position: t.bigint },
  row: { hours: t.double },
  sql: ({ position }) => sql`
    select (extract(epoch from statement_timestamp() - occurred_at) / 3600)::float8 as hours from events.feed where position = ${position}`,
});

export const readCursorKey = statement.one({
  name: 'feed.cursor-key',
  row: { key: t.text },
  sql: () => sql`select cursor_key as key from events.feed_head`,
});

const found = {
  position: t.bigint,
  id: t.uuid,
  type: t.text,
  subject_type: t.text,
  subject_id: t.bigint,
  data: t.json,
  farewell: t.boolean,
  occurred_at: t.text,
};
export type FoundEvent = RowOf<typeof found>;

const columns = sql`f.position, f.id, f.type, f.subject_type, f.subject_id, f.data, f.farewell, events.iso_utc(f.occurred_at) as occurred_at`;

/** Objects that the caller can read. */
const viewer = {
  seesAll: t.boolean,
  hiddenHolons: t.integer.array,
  /** Null means every conversation. */
  scopeHolons: t.integer.array.nullable,
  scopePersonId: t.integer.nullable,
  /** Account whose endpoint events are readable. */
  accountId: t.integer.nullable,
};
const filter = {
  after: t.bigint,
  upTo: t.bigint,
  /** Null means every type. */
  types: t.text.array.nullable,
  subjectType: t.text.nullable,
  limit: t.integer,
};
const params = { ...viewer, ...filter };

type Named = Readonly<Record<keyof typeof params, Parameter>>;
type NamedViewer = Readonly<Record<keyof typeof viewer, Parameter>>;

/**
 * True when no holon of the subject is hidden. Most subjects have one or two holons; these comparisons use a hash of
 * the hidden holons when the statement is planned for its values.
 */
const holonsSeenSql = (
  hidden: Parameter,
): Sql => sql`not (coalesce(s.holons[1], 0) = any(${hidden}) or coalesce(s.holons[2], 0) = any(${hidden})
    or (cardinality(s.holons) > 2 and s.holons && ${hidden}))`;

/**
 * Returns the condition that a subject is visible. Subjects without stored access pass, because their owner checks
 * them.
 */
function subjectVisibleSql({ seesAll, hiddenHolons, scopeHolons, scopePersonId, accountId }: NamedViewer): Sql {
  return sql`(${seesAll} or not s.known or (${holonsSeenSql(hiddenHolons)}
    and (s.type <> 'conversation' or ${scopeHolons} is null or s.holons && ${scopeHolons} or s.people @> array[${scopePersonId}])
    and (s.type <> 'webhook_endpoint' or s.people @> array[${accountId}])))`;
}

function matchesSql(named: Named): Sql {
  const { seesAll, after, upTo, types, subjectType } = named;
  return sql`f.position > ${after} and f.position <= ${upTo} and (${types} is null or f.type = any(${types}))
    and (${subjectType} is null or f.subject_type = ${subjectType}) and (${seesAll} or not s.gone or f.farewell)`;
}

/**
 * Returns the position of event number `window` of these types, readable or not; returns no row when there are fewer
 * events.
 */
export const findWindowEnd = statement.maybeOne({
  name: 'feed.window-end',
  planned: 'each-call',
  params: { after: t.bigint, upTo: t.bigint, types: t.text.array.nullable, window: t.integer },
  row: { position: t.bigint },
  sql: ({ after, upTo, types, window }) => sql`
    select max(position) as position from (
      (select f.position from events.feed f
        where ${types} is null and f.position > ${after} and f.position <= ${upTo} order by f.position limit ${window})
      union all
      (select f.position from unnest(${types}) as requested (type) cross join lateral (
          select f.position from events.feed f
          where f.type = requested.type and f.position > ${after} and f.position <= ${upTo} order by f.position limit ${window}
        ) as f order by f.position limit ${window})
    ) as scanned having count(*) = ${window}`,
});

/**
 * Returns readable events by position, for callers that can read many events. Subjects are looked up one by one,
 * because only some of them are needed.
 */
export const scanFeed = statement.many({
  name: 'feed.scan',
  planned: 'each-call',
  params,
  row: found,
  sql: (named) => sql`
    select ${columns} from events.feed f cross join lateral (
      select * from events.subjects s where s.type = f.subject_type and s.id = f.subject_id limit 1
    ) s
    where ${matchesSql(named)} and ${subjectVisibleSql(named)}
    order by f.position limit ${named.limit}`,
});

/** Returns the readable events of one subject. */
export const scanSubject = statement.many({
  name: 'feed.scan-subject',
  params: { ...params, subjectId: t.bigint },
  row: found,
  sql: ({ subjectId, ...named }) => sql`
    select ${columns} from events.feed f join events.subjects s on s.type = f.subject_type and s.id = f.subject_id
    where f.subject_id = ${subjectId} and ${matchesSql(named)} and ${subjectVisibleSql(named)}
    order by f.position limit ${named.limit}`,
});

/**
 * Returns readable subjects with events after a position. Each part of the union has its own index: subjects without
 * stored access, conversations of a participant, conversations of the holons in scope, and all others by each distinct
 * set of holons. `more` is true when there are more than `maxSets` sets, so subjects can be missing. Without subjects
 * it returns one row without a subject.
 */
export const listSeenSubjects = statement.many({
  name: 'feed.seen-subjects',
  planned: 'each-call',
  params: {
    hiddenHolons: viewer.hiddenHolons,
    scopeHolons: viewer.scopeHolons,
    scopePersonId: viewer.scopePersonId,
    accountId: viewer.accountId,
    after: filter.after,
    subjectTypes: t.text.array,
    /** Maximum number of sets per subject type. */
    maxSets: t.integer,
    limit: filter.limit,
  },
  row: { type: t.text.nullable, id: t.bigint.nullable, more: t.boolean },
  sql: ({ hiddenHolons, scopeHolons, scopePersonId, accountId, after, subjectTypes, maxSets, limit }) => {
    const part = (condition: Sql): Sql => sql`(select s.type, s.id from events.subjects s
      where s.last_position > ${after} and s.type = any(${subjectTypes}) and ${condition} limit ${limit})`;
    const seen = holonsSeenSql(hiddenHolons);
    return sql`
      with recursive sets (type, holons, number) as (
        select t.type, (select s.holons from events.subjects s where s.type = t.type order by s.holons limit 1), 1
        from unnest(${subjectTypes}) as t (type) where ${scopeHolons} is null or t.type <> 'conversation'
        union all
        select k.type, (select s.holons from events.subjects s where s.type = k.type and s.holons > k.holons order by s.holons limit 1), k.number + 1
        from sets k where k.holons is not null and k.number < ${maxSets}
      ), seen as (
        ${part(sql`not s.known`)}
        union ${part(sql`${scopeHolons} is not null and s.type = 'conversation' and s.people @> array[${scopePersonId}] and ${seen}`)}
        union ${part(sql`${scopeHolons} is not null and s.type = 'conversation' and s.holons && ${scopeHolons} and ${seen}`)}
        union (select f.type, f.id from sets s cross join lateral (
            select f.type, f.id from events.subjects f
            where f.type = s.type and f.holons = s.holons and f.last_position > ${after} and f.known
              and (f.type <> 'webhook_endpoint' or f.people @> array[${accountId}])
            order by f.last_position limit ${limit}
          ) as f where s.holons is not null and ${seen} limit ${limit})
      )
      select seen.type, seen.id, checked.more
      from (select coalesce(max(number), 0) >= ${maxSets} as more from sets) as checked left join seen on true limit ${limit}`;
  },
});

/**
 * Returns the first `each` events of each subject, up to the first position after which a subject can have more events.
 * All events up to `reached` are found.
 */
export const scanSubjects = statement.many({
  name: 'feed.scan-subjects',
  planned: 'each-call',
  params: { ...params, seenTypes: t.text.array, seenIds: t.bigint.array, each: t.integer },
  row: { ...found, reached: t.bigint },
  sql: ({ seenTypes, seenIds, each, ...named }) => sql`
    with hits as materialized (
      select f.* from unnest(${seenTypes}, ${seenIds}) as i (type, id)
      join events.subjects s on s.type = i.type and s.id = i.id
      cross join lateral (
        select * from events.feed f
        where f.subject_type = i.type and f.subject_id = i.id and ${matchesSql(named)}
        order by f.position limit ${each}
      ) f
      where ${subjectVisibleSql(named)}
    ), complete as (
      select coalesce(min(last), ${named.upTo}) as reached
      from (select max(position) as last from hits group by subject_type, subject_id having count(*) >= ${each}) as cut
    )
    select ${columns}, complete.reached from hits f cross join complete where f.position <= complete.reached
    order by f.position limit ${named.limit}`,
});

/** Returns the given events that the caller can read. */
export const scanPositions = statement.many({
  name: 'feed.scan-positions',
  params: { ...viewer, positions: t.bigint.array, occurredAt: t.instant.array },
  row: found,
  sql: ({ positions, occurredAt, ...named }) => sql`
    select ${columns} from unnest(${positions}, ${occurredAt}) as i (position, occurred_at)
    join events.feed f on f.position = i.position and f.occurred_at = i.occurred_at
    join events.subjects s on s.type = f.subject_type and s.id = f.subject_id
    where f.position > (select floor_position from events.feed_head) and (${named.seesAll} or not s.gone or f.farewell)
      and ${subjectVisibleSql(named)}
    order by f.position`,
});
