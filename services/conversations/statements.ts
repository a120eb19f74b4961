/** Shared statements and fragments. Every write increases `updated_at` (D9a). */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

/** Columns of a conversation in lists, from table alias `c`, as text where the reply needs text. */
export const conversationSummary = {
  row: {
    id: t.integer,
    journey_id: t.integer.nullable,
    step_id: t.integer.nullable,
    event_id: t.integer.nullable,
    /** Ids as `{1,2}`, in order. */
    participants: t.text,
    connected: t.text,
    /** UTC without offset, `2026-05-01 10:00:00.5`. */
    start: t.timestamp.nullable,
    finish: t.timestamp.nullable,
  },
  columns: sql`c.id, c.journey_id, c.step_id, c.event_id,
    c.participant_ids::text as participants, c.connected_ids::text as connected,
    c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish`,
};
export type SummaryRow = RowOf<typeof conversationSummary.row>;

/** All columns of a conversation, from table alias `c`. */
export const wholeConversation = {
  row: {
    ...conversationSummary.row,
    infos: t.json,
    config: t.json,
    room: t.json.nullable,
    question_state: t.json.nullable,
    updated_at: t.timestamp,
  },
  columns: sql`${conversationSummary.columns}, c.infos, c.config, c.room, c.question_state, c.updated_at at time zone 'UTC' as updated_at`,
};
export type ConversationRow = RowOf<typeof wholeConversation.row>;

/**
 * Columns of TitleSource except `id` and `start`, from table alias `c`. When the fields are in a provenance envelope,
 * the path does not reach the title; the columns then contain the whole `publishing` (D18a).
 */
export const titleSource = {
  row: { title: t.json.nullable, enveloped: t.json.nullable },
  columns: sql`c.infos #> '{publishing,fields,title}' as title,
    case when c.infos #> '{publishing,fields,title}' is null
        and (c.infos -> 'publishing' ? 'provenance' or c.infos #> '{publishing,fields}' ? 'provenance')
      then c.infos -> 'publishing' end as enveloped`,
};

/** The next value of `updated_at`. */
export const nextUpdatedAt = sql`greatest(clock_timestamp(), c.updated_at + interval '1 microsecond')`;

/**
 * True when merging the object of the call changes the stored column, including the digits of equal numbers (`1`,
 * `1.0`).
 */
const changes = (column: Sql): Sql => {
  const merged = sql`(c.${column} || i.${column})`;
  return sql`(${merged} <> c.${column} or ${merged}::text <> c.${column}::text)`;
};
export const changesInfos = changes(sql`infos`);
export const changesConfig = changes(sql`config`);

/** Expression for `returning`: true when this statement changed `updated_at`, from table alias `c`. */
export const hasChanged = sql`c.updated_at >= statement_timestamp()`;

export const findConversation = statement.maybeOne({
  name: 'conversations.get',
  params: { id: t.integer },
  row: wholeConversation.row,
  pipelined: true,
  sql: ({ id }) => sql`select ${wholeConversation.columns} from conversations.conversations c where c.id = ${id}`,
});

/** For update. */
export const lockConversation = statement.maybeOne({
  name: 'conversations.lock',
  params: { id: t.integer },
  row: wholeConversation.row,
  sql: ({ id }) =>
    sql`select ${wholeConversation.columns} from conversations.conversations c where c.id = ${id} for update`,
});

export const insertConversation = statement.one({
  name: 'conversations.insert',
  params: {
    journeyId: t.integer,
    stepId: t.integer.nullable,
    eventId: t.integer.nullable,
    start: t.instant.nullable,
    finish: t.instant.nullable,
    participantIds: t.integer.array,
    config: t.json,
  },
  row: wholeConversation.row,
  sql: ({ journeyId, stepId, eventId, start, finish, participantIds, config }) => sql`
    insert into conversations.conversations as c (journey_id, step_id, event_id, start_at, finish_at, participant_ids, config)
    values (${journeyId}, ${stepId}, ${eventId}, ${start}, ${finish}, ${participantIds}, ${config})
    returning ${wholeConversation.columns}`,
});

/**
 * Moves a conversation to a step if `from` is its current step; null means no step. Returns no row when it is at
 * another step or does not exist.
 */
export const moveConversation = statement.maybeOne({
  name: 'conversations.move',
  params: { id: t.integer, to: t.integer, from: t.integer.nullable },
  row: { id: t.integer },
  sql: ({ id, to, from }) => sql`
    update conversations.conversations c
    set step_id = ${to}, updated_at = ${nextUpdatedAt}
    where c.id = ${id} and c.step_id is not distinct from ${from}
    returning c.id`,
});

/** Returns the id of a conversation. Returns no row when it does not exist. */
export const findConversationId = statement.maybeOne({
  name: 'conversations.exists',
  params: { id: t.integer },
  row: { id: t.integer },
  pipelined: true,
  sql: ({ id }) => sql`select c.id from conversations.conversations c where c.id = ${id}`,
});

/** Returns the event of a conversation. Returns no row when the conversation does not exist. */
export const findConversationEvent = statement.maybeOne({
  name: 'conversations.find-event',
  params: { id: t.integer },
  row: { event_id: t.integer.nullable },
  pipelined: true,
  sql: ({ id }) => sql`select c.event_id from conversations.conversations c where c.id = ${id}`,
});

/** Returns the data that decides whether a person can access a conversation (D69). */
export const findMembership = statement.maybeOne({
  name: 'conversations.find-membership',
  params: { id: t.integer, personId: t.integer.nullable },
  row: { event_id: t.integer.nullable, takes_part: t.boolean },
  pipelined: true,
  sql: ({ id, personId }) => sql`
    select c.event_id, c.participant_ids @> array[${personId}] as takes_part from conversations.conversations c where c.id = ${id}`,
});

/** Returns the access of conversations; deleted conversations are skipped. */
export const listAccess = statement.many({
  name: 'feed.list-access',
  params: { ids: t.integer.array },
  row: { id: t.integer, event_id: t.integer.nullable, participants: t.text },
  sql: ({ ids }) => sql`select c.id, c.event_id, c.participant_ids::text as participants
    from conversations.conversations c where c.id = any(${ids}) order by c.id`,
});

/** Adds a note. Notes with the same key are added once. */
export const addNote = statement.none({
  name: 'notes.add',
  params: {
    conversationId: t.integer,
    key: t.text.nullable,
    type: t.text,
    body: t.text,
    authorPersonId: t.integer.nullable,
  },
  sql: ({ conversationId, key, type, body, authorPersonId }) => sql`
    insert into conversations.notes (conversation_id, key, note_type, body, author_person_id)
    values (${conversationId}, ${key}, ${type}, ${body}, ${authorPersonId})
    on conflict (conversation_id, key) do nothing`,
});
