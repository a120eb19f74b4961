/** Statements on conversations. Every write moves `updated_at` strictly forward (D9a). */
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

/** For operators. $1 journey, $2 event, $3 person, $4 since, $5 until, $6 before this id, each null for any; $7 limit. */
export const listConversations = statement(
  'conversations.admin-list',
  `select c.id, ${titleColumns}, c.journey_id, c.step_id, c.event_id, c.participant_ids::text as participants,
     c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish, c.updated_at at time zone 'UTC' as updated_at
   from conversations.conversations c
   where ($1::integer is null or c.journey_id = $1) and ($2::integer is null or c.event_id = $2)
     and ($3::integer is null or c.participant_ids @> array[$3::integer])
     and ($4::timestamptz is null or c.start_at >= $4) and ($5::timestamptz is null or c.start_at < $5)
     and ($6::integer is null or c.id < $6)
   order by c.id desc limit $7`,
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

/** $1 journey, $2 step, $3 event, $4 start, $5 finish, $6 participants, $7 config. */
export const insertConversation = statement(
  'conversations.insert',
  `insert into conversations.conversations as c (journey_id, step_id, event_id, start_at, finish_at, participant_ids, config)
   values ($1, $2, $3, $4::timestamptz, $5::timestamptz, $6::integer[], $7::jsonb)
   returning ${conversationColumns}`,
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

export const getInfos = statement('conversations.get-infos', `select c.infos from conversations.conversations c where c.id = $1`, {
  pipelined: 'always',
});

/** $1 id, $2 infos (a JSON object). No row: absent. */
export const patchInfos = statement(
  'conversations.patch-infos',
  `update conversations.conversations c
   set infos = c.infos || $2::jsonb,
       updated_at = case when c.infos || $2::jsonb <> c.infos then ${nextUpdatedAt} else c.updated_at end
   where c.id = $1
   returning c.infos`,
  { pipelined: 'when-busy' },
);

/** $1 id, $2 step, $3 finish when it is still null, $4 infos, $5 config, $6 room or null. For callers that hold the row's lock. */
export const recordConversation = statement(
  'conversations.record',
  `update conversations.conversations c
   set step_id = $2, finish_at = coalesce(c.finish_at, $3::timestamptz), infos = c.infos || $4::jsonb, config = c.config || $5::jsonb,
       room = $6::jsonb, updated_at = ${nextUpdatedAt}
   where c.id = $1
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

/** $1 id, $2 room state; $3 = the `updated_at` (UTC text) under which it was computed. */
export const replaceRoom = statement(
  'conversations.replace-room',
  `update conversations.conversations c
   set room = $2::jsonb, updated_at = ${nextUpdatedAt}
   where c.id = $1 and c.updated_at = $3::timestamp at time zone 'UTC'
   returning c.id`,
);

export const getRoom = statement(
  'conversations.get-room',
  `select c.room, c.updated_at at time zone 'UTC' as updated_at from conversations.conversations c where c.id = $1`,
  { pipelined: 'always' },
);

export const lockRoom = statement(
  'conversations.lock-room',
  `select c.room, c.updated_at at time zone 'UTC' as updated_at from conversations.conversations c where c.id = $1 for update`,
);

/** What `describe` needs. */
export const describeConversation = statement(
  'conversations.describe',
  `select c.id, c.journey_id, c.event_id, c.participant_ids::text as participants, ${titleColumns},
     c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish
   from conversations.conversations c where c.id = $1`,
  { pipelined: 'always' },
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

/** $1 id, $2 holon. No row: absent, or linked already. */
export const connectHolon = statement(
  'conversations.connect',
  `update conversations.conversations c
   set connected_ids = c.connected_ids || $2::integer, updated_at = ${nextUpdatedAt}
   where c.id = $1 and not c.connected_ids @> array[$2::integer]
   returning c.id`,
);

/** $1 id, $2 holon. No row: absent, or not linked. */
export const disconnectHolon = statement(
  'conversations.disconnect',
  `update conversations.conversations c
   set connected_ids = array_remove(c.connected_ids, $2::integer), updated_at = ${nextUpdatedAt}
   where c.id = $1 and c.connected_ids @> array[$2::integer]
   returning c.id`,
);

/**
 * Sets `infos.audio` ($3) unless the same or a newer blob ($2) is attached; the last column tells whether this call did it.
 * No row: absent.
 */
export const attachAudio = statement(
  'conversations.attach-audio',
  `with done as (
     update conversations.conversations c
     set infos = c.infos || jsonb_build_object('audio', $3::jsonb), audio_blob_id = $2, updated_at = ${nextUpdatedAt}
     where c.id = $1 and coalesce(c.audio_blob_id, 0) < $2
     returning c.id
   )
   select c.id, exists (select from done) as attached from conversations.conversations c where c.id = $1`,
);

/** Bytes of `infos` with this audio ($2). */
export const measureWithAudio = statement(
  'conversations.measure-with-audio',
  `select octet_length((c.infos || jsonb_build_object('audio', $2::jsonb))::text) as bytes
   from conversations.conversations c where c.id = $1`,
);

/** `infos.publishing` as a whole ($2), computed under the row's lock. */
export const replacePublishing = statement(
  'conversations.replace-publishing',
  `update conversations.conversations c
   set infos = c.infos || jsonb_build_object('publishing', $2::jsonb), updated_at = ${nextUpdatedAt}
   where c.id = $1
   returning c.id`,
);

/** Bounds, participants ($5, the whole list), journey ($6) and `config.booking` ($4) of a booked conversation. */
export const updateBooked = statement(
  'conversations.update-booked',
  `update conversations.conversations c
   set start_at = $2::timestamptz, finish_at = $3::timestamptz,
       config = c.config || jsonb_build_object('booking', $4::jsonb), participant_ids = $5::integer[], updated_at = ${nextUpdatedAt}
   where c.id = $1
   returning ${conversationColumns}`,
);

/** $1 id, $2 the whole list of participants. */
export const replaceParticipants = statement(
  'conversations.replace-participants',
  `update conversations.conversations c set participant_ids = $2::integer[], updated_at = ${nextUpdatedAt} where c.id = $1 returning c.id`,
);
