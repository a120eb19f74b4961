/** Statements and fragments that several features share. Every write moves `updated_at` strictly forward (D9a). */
import { statement } from '#libs/orm';

/** The columns of ConversationRow, from table alias `c`. Instants are UTC text without offset. */
export const conversationColumns = `c.id, c.journey_id, c.step_id, c.event_id,
  c.participant_ids::text as participants, c.connected_ids::text as connected, c.infos, c.config, c.room, c.question_state,
  c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish, c.updated_at at time zone 'UTC' as updated_at`;

/**
 * Columns of TitleSource besides `id` and `start`: the publishing field; and all of `publishing` when a provenance envelope stands around
 * the fields, so that the path does not find it (D18a).
 */
export const titleColumns = `c.infos #> '{publishing,fields,title}' as title,
  case when c.infos #> '{publishing,fields,title}' is null
      and (c.infos -> 'publishing' ? 'provenance' or c.infos #> '{publishing,fields}' ? 'provenance')
    then c.infos -> 'publishing' end as enveloped`;

/** The next value of `updated_at`. */
export const nextUpdatedAt = `greatest(clock_timestamp(), c.updated_at + interval '1 microsecond')`;

export const getConversation = statement(
  'conversations.get',
  `select ${conversationColumns} from conversations.conversations c where c.id = $1`,
  { pipelined: 'always' },
);

/** For update: waits for whoever writes the conversation. */
export const lockConversation = statement(
  'conversations.lock',
  `select ${conversationColumns} from conversations.conversations c where c.id = $1 for update`,
);

/**
 * SQL condition of a scope (D69): the person takes part, or the event is one of those.
 *
 * @param conversation alias
 * @param place of the first of the two parameters, e.g. 4 for `$4` (person or null) and `$5` (events)
 */
export function scopeSql(conversation: string, place: number): string {
  return `(${conversation}.participant_ids @> array[$${place}::integer] or ${conversation}.event_id = any($${place + 1}::integer[]))`;
}

/** $1 journey, $2 step, $3 event, $4 start, $5 finish, $6 participants, $7 config. */
export const insertConversation = statement(
  'conversations.insert',
  `insert into conversations.conversations as c (journey_id, step_id, event_id, start_at, finish_at, participant_ids, config)
   values ($1, $2, $3, $4::timestamptz, $5::timestamptz, $6::integer[], $7::jsonb)
   returning ${conversationColumns}`,
);

/** $1 id, $2 step, only while $3 is the current one (null = no step). */
export const moveConversation = statement(
  'conversations.move',
  `update conversations.conversations c
   set step_id = $2, updated_at = ${nextUpdatedAt}
   where c.id = $1 and c.step_id is not distinct from $3::integer
   returning ${conversationColumns}`,
);

export const existsConversation = statement('conversations.exists', `select c.id from conversations.conversations c where c.id = $1`, {
  pipelined: 'always',
});

/** What decides whether person $2 may know conversation $1 (D69). */
export const findMembership = statement(
  'conversations.find-membership',
  `select c.event_id, c.participant_ids @> array[$2::integer] as takes_part from conversations.conversations c where c.id = $1`,
  { pipelined: 'always' },
);
