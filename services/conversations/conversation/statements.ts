/** Statements of find-or-create, PATCH, `/recorded`, audio and `describe`. */
import { insertEventSql } from '#libs/infrastructure/feed';
import { keyStatements } from '#libs/infrastructure/idempotency';
import { type Parameter, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { scopeParams, withinScope } from '../access.ts';
import { conversationFeed } from '../feed/index.ts';
import {
  changesConfig,
  changesInfos,
  hasChanged,
  nextUpdatedAt,
  titleSource,
  wholeConversation,
} from '../statements.ts';

const activeParams = {
  personId: t.integer,
  journeyId: t.integer,
  time: t.instant,
  /** Null means no limit. */
  limit: t.integer.nullable,
};

/**
 * Selects the active conversations of a person and journey at a time. `offset 0` prevents a plan that scans the whole
 * journey by start to find one person.
 */
function activeSql(
  { personId, journeyId, time, limit }: Readonly<Record<keyof typeof activeParams, Parameter>>,
  condition: Sql = sql.empty,
): Sql {
  return sql`
    select ${wholeConversation.columns}
    from (
      select * from conversations.conversations
      where participant_ids @> array[${personId}] and journey_id = ${journeyId}
        and start_at <= ${time} + interval '5 minutes'
        and (finish_at is null or finish_at >= ${time})
      offset 0
    ) c ${condition}
    order by c.start_at, c.id
    limit ${limit}`;
}

export const listActive = statement.many({
  name: 'conversations.find-active',
  params: activeParams,
  row: wholeConversation.row,
  pipelined: true,
  sql: (params) => activeSql(params),
});

/** Returns the active conversations of a person and journey within a scope (D69). */
export const listActiveWithin = statement.many({
  name: 'conversations.find-active-within',
  params: { ...activeParams, ...scopeParams },
  row: wholeConversation.row,
  sql: (params) => activeSql(params, sql`where ${withinScope(params)}`),
});

/**
 * Locks the person and journey until the end of the transaction, so that concurrent requests do not create two
 * conversations.
 */
export const lockPersonAndJourney = statement.none({
  name: 'conversations.lock-person-journey',
  params: { personId: t.integer, journeyId: t.integer },
  sql: ({ personId, journeyId }) => sql`
    select pg_advisory_xact_lock(hashtextextended('find-active:' || ${personId}::text || ':' || ${journeyId}::text, 0))`,
});

/**
 * Merges `infos` and `config` (rules/conversations#read-and-patch); `{}` changes nothing. Returns no row when the
 * conversation does not exist or is stale. `emitted` is true when something changed and a feed event was added (V2).
 */
export const patchConversation = statement.coalesced({
  name: 'conversations.patch',
  params: { id: t.integer, infos: t.json, config: t.json, expectedUpdatedAt: t.instant.nullable },
  key: 'id',
  row: { ...wholeConversation.row, emitted: t.boolean },
  sql: (calls) => sql`
    with written as (
    update conversations.conversations c
    set infos = c.infos || i.infos,
        config = c.config || i.config,
        updated_at = case
          when ${changesInfos} or ${changesConfig} then ${nextUpdatedAt}
          else c.updated_at
        end
    from ${calls}
    where c.id = i.id and (i.expected_updated_at is null or c.updated_at = i.expected_updated_at)
    returning i.ordinal, ${wholeConversation.columns}, ${hasChanged} as emitted
    ), emitted as (${insertEventSql(conversationFeed.updated, { subjectId: sql`id`, from: sql`from written where emitted` })})
    select * from written`,
});

export const describeConversation = statement.maybeOne({
  name: 'conversations.describe',
  params: { id: t.integer },
  row: {
    id: t.integer,
    journey_id: t.integer.nullable,
    event_id: t.integer.nullable,
    participants: t.text,
    ...titleSource.row,
    start: t.timestamp.nullable,
    finish: t.timestamp.nullable,
  },
  pipelined: true,
  sql: ({ id }) => sql`
    select c.id, c.journey_id, c.event_id, c.participant_ids::text as participants, ${titleSource.columns},
      c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish
    from conversations.conversations c where c.id = ${id}`,
});

export const findInfos = statement.maybeOne({
  name: 'conversations.get-infos',
  params: { id: t.integer },
  row: { infos: t.json },
  pipelined: true,
  sql: ({ id }) => sql`select c.infos from conversations.conversations c where c.id = ${id}`,
});

/**
 * Merges `infos`. Returns no row when the conversation does not exist. `emitted` is true when something changed and a
 * feed event was added (V2).
 */
export const patchInfos = statement.coalesced({
  name: 'conversations.patch-infos',
  params: { id: t.integer, infos: t.json },
  key: 'id',
  row: { infos: t.json, emitted: t.boolean },
  sql: (calls) => sql`
    with written as (
    update conversations.conversations c
    set infos = c.infos || i.infos,
        updated_at = case when ${changesInfos} then ${nextUpdatedAt} else c.updated_at end
    from ${calls}
    where c.id = i.id
    returning i.ordinal, c.id, c.infos, ${hasChanged} as emitted
    ), emitted as (${insertEventSql(conversationFeed.updated, { subjectId: sql`id`, from: sql`from written where emitted` })})
    select ordinal, infos, emitted from written`,
});

/**
 * Records the end of a conversation. `finish` is used when none is stored, and is never before the start. The caller
 * must have locked the row.
 */
export const recordConversation = statement.maybeOne({
  name: 'conversations.record',
  params: {
    id: t.integer,
    stepId: t.integer.nullable,
    finish: t.instant,
    infos: t.json,
    config: t.json,
    room: t.json.nullable,
  },
  row: wholeConversation.row,
  sql: ({ id, stepId, finish, infos, config, room }) => sql`
    update conversations.conversations c
    set step_id = ${stepId}, finish_at = coalesce(c.finish_at, greatest(c.start_at, ${finish})), infos = c.infos || ${infos}, config = c.config || ${config},
        room = ${room}, updated_at = ${nextUpdatedAt}
    where c.id = ${id}
    returning ${wholeConversation.columns}`,
});

/** Idempotency keys of `/recorded`, by conversation. */
export const recordedKeys = keyStatements({
  name: 'recorded-keys',
  table: 'conversations.idempotency_keys',
  scope: 'conversation_id',
});

/**
 * Sets `infos.audio` unless the same or a newer blob is attached; `attached` is true when it was set. Returns no row
 * when the conversation does not exist.
 */
export const setAudio = statement.maybeOne({
  name: 'conversations.attach-audio',
  params: { id: t.integer, blobId: t.integer, audio: t.json },
  row: { id: t.integer, attached: t.boolean },
  sql: ({ id, blobId, audio }) => sql`
    with done as (
      update conversations.conversations c
      set infos = c.infos || jsonb_build_object('audio', ${audio}), audio_blob_id = ${blobId}, updated_at = ${nextUpdatedAt}
      where c.id = ${id} and coalesce(c.audio_blob_id, 0) < ${blobId} returning c.id
    )
    select c.id, exists (select from done) as attached from conversations.conversations c where c.id = ${id}`,
});

/**
 * Returns the size in bytes that `infos` would have with the audio. Returns no row when the conversation does not
 * exist.
 */
export const measureWithAudio = statement.maybeOne({
  name: 'conversations.measure-with-audio',
  params: { id: t.integer, audio: t.json },
  row: { bytes: t.integer },
  sql: ({ id, audio }) => sql`
    select octet_length((c.infos || jsonb_build_object('audio', ${audio}))::text) as bytes
    from conversations.conversations c where c.id = ${id}`,
});
