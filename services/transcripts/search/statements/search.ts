/** Statements of the transcript search. */
import { type Parameter, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { maxSearchedCharacters } from '../rules/words.ts';

const conversationParams = {
  /** Conversation events to which matches are restricted by the holon filter. */
  eventIds: t.integer.array.nullable,
  journeyId: t.integer.nullable,
  from: t.instant.nullable,
  to: t.instant.nullable,
  /** Person whose conversations match, in addition to conversations of the scope's events; null = all conversations. */
  scopePersonId: t.integer.nullable,
  scopeEventIds: t.integer.array.nullable,
  /** Events that the caller cannot see. */
  hiddenEventIds: t.integer.array,
};
const matchParams = {
  ...conversationParams,
  /** Query in PostgreSQL's `tsquery` syntax. */
  query: t.text,
  /** Speaker. */
  personId: t.integer.nullable,
  /** Ids of the matching conversations, if there are few; otherwise null. */
  conversationIds: t.integer.array.nullable,
};

const fits = (given: Readonly<Record<keyof typeof conversationParams, Parameter>>): Sql => sql`
      (${given.eventIds} is null or c.event_id = any(${given.eventIds}))
      and (${given.journeyId} is null or c.journey_id = ${given.journeyId})
      and (${given.from} is null or (c.has_start and c.start_at >= ${given.from}))
      and (${given.to} is null or (c.has_start and c.start_at < ${given.to}))
      and (${given.scopeEventIds} is null or c.event_id = any(${given.scopeEventIds}) or c.participant_ids @> array[${given.scopePersonId}])
      and (c.event_id is null or c.event_id <> all(${given.hiddenEventIds}))`;

type MatchParameters = Readonly<Record<keyof typeof matchParams, Parameter>>;
const matches = (
  given: MatchParameters,
  matchesText: Sql = sql`s.words @@ ${given.query}::tsquery`,
): Sql => sql`search_segments s
    join search_conversations c on c.conversation_id = s.conversation_id
    where ${matchesText}
      and (${given.personId} is null or s.person_id = ${given.personId})
      and (${given.conversationIds} is null or s.conversation_id = any(${given.conversationIds}))
      and ${fits(given)}`;

/**
 * Returns the conversations that match the filters, up to the limit. With these ids the search does not read the word
 * index once per conversation.
 */
export const listFitting = statement.many({
  name: 'search.fitting',
  planned: 'each-call',
  params: { ...conversationParams, limit: t.integer },
  row: { id: t.integer },
  sql: (given) =>
    sql`select c.conversation_id as id from search_conversations c where ${fits(given)} limit ${given.limit}`,
});

/**
 * Returns the conversations with this speaker, up to the limit. It needs one index lookup per conversation, however
 * many rows the speaker has.
 */
export const listConversationsWithSpeaker = statement.many({
  name: 'search.spoken-in',
  params: { personId: t.integer, limit: t.integer },
  row: { id: t.integer },
  sql: ({ personId, limit }) => sql`
    with recursive spoken (id) as (
      (select conversation_id from search_segments where person_id = ${personId} order by conversation_id limit 1)
      union all
      select (select s.conversation_id from search_segments s where s.person_id = ${personId} and s.conversation_id > spoken.id
        order by s.conversation_id limit 1)
      from spoken where spoken.id is not null
    ) select id from spoken where id is not null limit ${limit}`,
});

/**
 * Returns the conversation at which a walk ends: the matching conversation at a given distance from the position,
 * counted from new to old.
 */
export const findEdge = statement.maybeOne({
  name: 'search.edge',
  planned: 'each-call',
  params: {
    ...conversationParams,
    conversationIds: t.integer.array.nullable,
    belowStart: t.instant,
    belowId: t.integer,
    walked: t.integer,
  },
  row: { start: t.text, id: t.integer },
  sql: (given) => sql`
    select iso_utc(c.start_at) as start, c.conversation_id as id from search_conversations c
    where (c.start_at, c.conversation_id) <= (${given.belowStart}, ${given.belowId})
      and (${given.conversationIds} is null or c.conversation_id = any(${given.conversationIds})) and ${fits(given)}
    order by c.start_at desc, c.conversation_id desc offset ${given.walked} limit 1`,
});

const windowParams = {
  ...matchParams,
  belowStart: t.instant,
  belowId: t.integer,
  belowIndex: t.integer,
  lastStart: t.instant,
  lastId: t.integer,
  lastIndex: t.integer,
  afterScore: t.double,
  afterStart: t.instant,
  afterId: t.integer,
  afterIndex: t.integer,
  window: t.integer,
  limit: t.integer,
};
const bestRow = {
  conversation_id: t.integer,
  segment_index: t.integer,
  start: t.text,
  score: t.double,
  /** Number of matches in the window, plus one if there are more below it. */
  found: t.integer,
  last_start: t.text,
  last_id: t.integer,
  last_index: t.integer,
};
const bestOf = (given: Readonly<Record<keyof typeof windowParams, Parameter>>, matchesText?: Sql): Sql => sql`
    with newest as materialized (
      select c.start_at, s.conversation_id, s.segment_index, s.words from ${matches(given, matchesText)}
        and (c.start_at, s.conversation_id, s.segment_index) < (${given.belowStart}, ${given.belowId}, ${given.belowIndex})
        and (c.start_at, s.conversation_id, s.segment_index) >= (${given.lastStart}, ${given.lastId}, ${given.lastIndex})
      order by c.start_at desc, s.conversation_id desc, s.segment_index desc limit ${given.window} + 1
    ), weighed as (
      select start_at, conversation_id, segment_index, ts_rank_cd(words, ${given.query}::tsquery, 1)::double precision as score,
        row_number() over (order by start_at desc, conversation_id desc, segment_index desc) as place
      from newest
    ), edge as (
      select iso_utc(start_at) as last_start, conversation_id as last_id, segment_index as last_index from weighed
      where place <= ${given.window} order by place desc limit 1
    )
    select w.conversation_id, w.segment_index, iso_utc(w.start_at) as start, w.score, (select count(*)::integer from newest) as found, edge.*
    from weighed w cross join edge
    where w.place <= ${given.window}
      and (w.score, w.start_at, w.conversation_id, w.segment_index)
        < (${given.afterScore}, ${given.afterStart}, ${given.afterId}, ${given.afterIndex})
    order by w.score desc, w.start_at desc, w.conversation_id desc, w.segment_index desc limit ${given.limit}`;

/**
 * Returns the best matches of one window of the newest matches, after the last returned match. PostgreSQL chooses for
 * each query between the word index, which suits rare words, and the newest conversations, which suit frequent words.
 */
export const findBest = statement.many({
  name: 'search.best',
  planned: 'each-call',
  params: windowParams,
  row: bestRow,
  sql: (given) => bestOf(given),
});

/**
 * Returns the best matches like `findBest`, but within a few conversations. It checks the words of each row instead of
 * using the word index, which contains no conversations.
 */
export const walkBest = statement.many({
  name: 'search.walk',
  planned: 'each-call',
  params: windowParams,
  row: bestRow,
  sql: (given) =>
    bestOf(
      given,
      sql`c.start_at between ${given.lastStart} and ${given.belowStart} and ts_match_vq(s.words, ${given.query}::tsquery)`,
    ),
});

/** Returns the planner's estimate of the matches, as the JSON text of a plan. No rows are read. */
export const estimateMatches = statement.one({
  name: 'search.estimate',
  planned: 'each-call',
  params: matchParams,
  row: { 'QUERY PLAN': t.json },
  sql: (given) => sql`explain (format json) select 1 from ${matches(given)}`,
});

/**
 * Number of characters to read of each text: the searched characters, and more of the neighbours than is displayed, so
 * that no character is split.
 */
const textLimit = sql.literal(String(maxSearchedCharacters + 3_000));
const neighbourLimit = sql.literal('500');

/** Returns rows by conversation and index, with the text of the previous and next row, in the requested order. */
export const listSegments = statement.many({
  name: 'search.segments',
  params: { conversationIds: t.integer.array, indexes: t.integer.array },
  row: {
    conversation_id: t.integer,
    segment_index: t.integer,
    start_us: t.bigint,
    end_us: t.bigint,
    person_id: t.integer,
    text: t.text,
    before: t.text.nullable,
    after: t.text.nullable,
  },
  sql: ({ conversationIds, indexes }) => sql`
    select r.conversation_id, s.segment_index, r.start_us, r.end_us, r.person_id, left(r.text, ${textLimit}) as text, before.text as before,
      after.text as after
    from unnest(${conversationIds}, ${indexes}) with ordinality as w (conversation_id, segment_index, place)
    join search_segments s on s.conversation_id = w.conversation_id and s.segment_index = w.segment_index
    join transcript_rows r on r.conversation_id = s.conversation_id and r.start_us = s.start_us and r.position = s.position
    left join lateral (
      select right(b.text, ${neighbourLimit}) as text from transcript_rows b where b.conversation_id = r.conversation_id and (b.start_us, b.position) < (r.start_us, r.position)
      order by b.start_us desc, b.position desc limit 1
    ) before on true
    left join lateral (
      select left(a.text, ${neighbourLimit}) as text from transcript_rows a where a.conversation_id = r.conversation_id and (a.start_us, a.position) > (r.start_us, r.position)
      order by a.start_us, a.position limit 1
    ) after on true
    order by w.place`,
});
