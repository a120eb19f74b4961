/** Statements of find-or-create, PATCH and `describe`. */
import { statement } from '#libs/orm';
import { conversationColumns, nextUpdatedAt, scopeSql, titleColumns } from '../statements.ts';

const activeSql = `select * from conversations.conversations
  where participant_ids @> array[$1::integer] and journey_id = $2
    and start_at <= $3::timestamptz + interval '5 minutes'
    and (finish_at is null or finish_at >= $3::timestamptz)`;

/**
 * $1 person, $2 journey, $3 time, $4 limit. `offset 0` keeps the look-up by person apart from the order, so that the planner never walks
 * a journey in order of start to find one person.
 */
export const findActive = statement(
  'conversations.find-active',
  `select ${conversationColumns}
   from (${activeSql} offset 0) c
   order by c.start_at, c.id
   limit $4`,
  { pipelined: 'always' },
);

/** The same within a scope: $4, $5 as in `scopeSql`, $6 limit. */
export const findActiveWithin = statement(
  'conversations.find-active-within',
  `select ${conversationColumns}
   from (${activeSql} offset 0) c
   where ${scopeSql('c', 4)}
   order by c.start_at, c.id
   limit $6`,
);

/** Serialises creators for one (person, journey) until the end of the transaction. */
export const lockPersonAndJourney = statement(
  'conversations.lock-person-journey',
  `select pg_advisory_xact_lock(hashtextextended('find-active:' || $1::text || ':' || $2::text, 0))`,
);

/** Merge of rules/conversations#read-and-patch: $1 id, $2 infos, $3 config (JSON objects, `{}` for none), $4 expected `updated_at` or null. No row: absent or stale. */
export const patchConversation = statement(
  'conversations.patch',
  `update conversations.conversations c
   set infos = c.infos || $2::jsonb,
       config = c.config || $3::jsonb,
       updated_at = case
         when c.infos || $2::jsonb <> c.infos or c.config || $3::jsonb <> c.config then ${nextUpdatedAt}
         else c.updated_at
       end
   where c.id = $1 and ($4::timestamptz is null or c.updated_at = $4::timestamptz)
   returning ${conversationColumns}`,
  { pipelined: 'when-busy' },
);

/** What `describe` needs. */
export const describeConversation = statement(
  'conversations.describe',
  `select c.id, c.journey_id, c.event_id, c.participant_ids::text as participants, ${titleColumns},
     c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish
   from conversations.conversations c where c.id = $1`,
  { pipelined: 'always' },
);
