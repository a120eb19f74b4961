/** Statements that maintain the search data: the words of rows, and the access facts of conversations. */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns the next searchable rows after this start and position, with their indexes in the whole transcript. */
export const listNextRows = statement.many({
  name: 'index.rows',
  params: { conversationId: t.integer, afterStart: t.bigint, afterPosition: t.integer, limit: t.integer },
  row: { start_us: t.bigint, position: t.integer, person_id: t.integer, text: t.text },
  sql: ({ conversationId, afterStart, afterPosition, limit }) => sql`
    select start_us, position, person_id, text from transcript_rows
    where conversation_id = ${conversationId} and (start_us, position) > (${afterStart}, ${afterPosition})
    order by start_us, position limit ${limit}`,
});

/**
 * Returns a row when the rows were never filtered and a later run has found a window: it is then unknown which rows are
 * outside the window.
 */
export const findOutdatedRows = statement.maybeOne({
  name: 'index.uncut',
  params: { conversationId: t.integer },
  row: { conversation_id: t.integer },
  sql: ({ conversationId }) => sql`
    select conversation_id from import_evidence
    where conversation_id = ${conversationId} and status <> 'imported' and window_start is not null`,
});

/** Removes all rows of these conversations from the index. */
export const clearSegments = statement.none({
  name: 'index.clear',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`delete from search_segments where conversation_id = any(${ids})`,
});

/**
 * Increases `work_mem`, since the GIN index merges many pending rows at once. With little memory it needs many passes
 * over all its pages.
 */
export const raiseWorkMem = statement.none({
  name: 'index.memory',
  sql: () => sql`select set_config('work_mem', '64MB', true)`,
});

/** Whether any process is writing transcript rows. */
export const hasWriters = statement.one({
  name: 'index.writers',
  row: { writing: t.boolean },
  sql: () => sql`
    select exists (
      select from pg_locks
      where database = (select oid from pg_database where datname = current_database())
        and relation = 'transcript_rows'::regclass and mode = 'RowExclusiveLock' and granted
    ) as writing`,
});

/** Inserts rows that are passed column by column. `vectors` are in PostgreSQL's `tsvector` syntax. */
export const insertSegments = statement.none({
  name: 'index.insert',
  params: {
    conversationId: t.integer,
    indexes: t.integer.array,
    starts: t.bigint.array,
    positions: t.integer.array,
    personIds: t.integer.array,
    vectors: t.text.array,
  },
  sql: ({ conversationId, indexes, starts, positions, personIds, vectors }) => sql`
    insert into search_segments (conversation_id, segment_index, start_us, position, person_id, words)
    select ${conversationId}, r.segment_index, r.start_us, r.position, r.person_id, r.words::tsvector
    from unnest(${indexes}, ${starts}, ${positions}, ${personIds}, ${vectors}) as r (segment_index, start_us, position, person_id, words)`,
});

/**
 * Locks the access facts of these conversations until the transaction ends, so that other refreshes and permanent
 * deletions wait. Locks are acquired in order.
 */
export const lockAccessFacts = statement.none({
  name: 'index.lock-facts',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`
    select count(pg_advisory_xact_lock(hashtextextended('transcripts.facts', id)))
    from (select id::bigint from unnest(${ids}) as i(id) order by id) as ordered`,
});

/** Stores the access facts of a conversation. An older state never replaces a newer one. */
export const upsertAccessFacts = statement.none({
  name: 'index.conversation',
  params: {
    id: t.integer,
    start: t.instant.nullable,
    eventId: t.integer.nullable,
    journeyId: t.integer.nullable,
    participantIds: t.integer.array,
    version: t.instant,
  },
  sql: ({ id, start, eventId, journeyId, participantIds, version }) => sql`
    insert into search_conversations as c (conversation_id, start_at, has_start, event_id, journey_id, participant_ids, version)
    values (${id}, coalesce(${start}, '0001-01-01 00:00:00+00'::timestamptz), ${start} is not null, ${eventId}, ${journeyId}, ${participantIds}, ${version})
    on conflict (conversation_id) do update set start_at = excluded.start_at, has_start = excluded.has_start, event_id = excluded.event_id,
      journey_id = excluded.journey_id, participant_ids = excluded.participant_ids, version = excluded.version
    where c.version <= excluded.version`,
});

export const deleteAccessFacts = statement.none({
  name: 'index.drop-conversation',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from search_conversations where conversation_id = ${id}`,
});

/** Returns a row when the conversation has a transcript or stored access facts. */
export const findIndexed = statement.maybeOne({
  name: 'index.find-kept',
  params: { id: t.integer },
  row: { conversation_id: t.integer },
  sql: ({ id }) => sql`
    (select conversation_id from search_conversations where conversation_id = ${id})
    union all
    (select conversation_id from transcript_rows where conversation_id = ${id} limit 1) limit 1`,
});

/**
 * Returns conversations with unindexed rows after the id `after`, by ascending id. They were imported by releases
 * without search.
 */
export const listUnindexed = statement.many({
  name: 'index.missing',
  params: { after: t.integer, limit: t.integer },
  row: { id: t.integer },
  sql: ({ after, limit }) => sql`
    with recursive spoken as (
      (select conversation_id from transcript_rows where conversation_id > ${after} order by conversation_id limit 1)
      union all
      select (select r.conversation_id from transcript_rows r where r.conversation_id > p.conversation_id order by r.conversation_id limit 1)
      from spoken p where p.conversation_id is not null
    )
    select conversation_id as id from spoken s
    where conversation_id is not null and not exists (select from search_conversations c where c.conversation_id = s.conversation_id)
    order by conversation_id limit ${limit}`,
});
