/** Statements of find-or-create, PATCH and `describe`. */
import { insertEventSql } from '#libs/feed';
import { type Parameter, type Sql, sql, statement, t } from '#libs/sql';
import { conversationFeed } from '../feed/index.ts';
import { scopeParams, withinScope } from '../scope.ts';
import { changesConfig, changesInfos, hasChanged, nextUpdatedAt, titleSource, wholeConversation } from '../statements.ts';

const activeParams = {
  personId: t.integer,
  journeyId: t.integer,
  time: t.instant,
  /** Null: all. */
  limit: t.integer.nullable,
};

/**
 * What is active for a person and journey at a time. `offset 0` keeps the look-up by person apart from the order, so that the planner never
 * walks a journey in order of start to find one person.
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

/** The same within a scope (D69). */
export const listActiveWithin = statement.many({
  name: 'conversations.find-active-within',
  params: { ...activeParams, ...scopeParams },
  row: wholeConversation.row,
  sql: (params) => activeSql(params, sql`where ${withinScope(params)}`),
});

/** Serialises creators for one (person, journey) until the end of the transaction. */
export const lockPersonAndJourney = statement.none({
  name: 'conversations.lock-person-journey',
  params: { personId: t.integer, journeyId: t.integer },
  sql: ({ personId, journeyId }) => sql`
    select pg_advisory_xact_lock(hashtextextended('find-active:' || ${personId}::text || ':' || ${journeyId}::text, 0))`,
});

/**
 * Merge of rules/conversations#read-and-patch: `infos` and `config` are JSON objects, `{}` for none. No row: absent or stale. `told`: it changed
 * something, and the feed is told (V2).
 */
export const patchConversation = statement.coalesced({
  name: 'conversations.patch',
  params: { id: t.integer, infos: t.json, config: t.json, expectedUpdatedAt: t.instant.nullable },
  key: 'id',
  row: { ...wholeConversation.row, told: t.boolean },
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
    returning i.ordinal, ${wholeConversation.columns}, ${hasChanged} as told
    ), told as (${insertEventSql(conversationFeed.updated, { subjectId: sql`id`, from: sql`from written where told` })})
    select * from written`,
});

/** What `describe` needs. */
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
