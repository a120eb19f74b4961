/**
 * Everything of one person in conversations, deleted ones too (D67). Read by windows of ids: what a room holds is found by no index.
 */
import { statement } from '#libs/orm';

/** Conversations that one statement looks at. */
export const windowSize = 100_000;

/** Own entries of the room, for parameter $1 = person. */
const inRoomSql = (path: string): string =>
  `jsonb_path_exists(c.room, '${path} ? (@.personId == $p)', jsonb_build_object('p', $1::integer))`;
const concernsSql = `(c.participant_ids @> array[$1::integer] or ${inRoomSql('$.participants[*]')} or ${inRoomSql('$.claims.*')}
     or exists (select from conversations.notes n where n.conversation_id = c.id and n.author_person_id = $1::integer))`;

/** $1 = id; the largest id of a conversation. */
export const findLastId = statement('person-data.last-id', 'select coalesce(max(id), 0) as id from conversations.all_conversations');

export interface ConcernedRow {
  readonly id: number;
  readonly item: string;
}

/** $1 = person, $2 = after this id, $3 = up to this one, $4 = at most so many. */
export const exportConversations = statement(
  'person-data.export',
  `select c.id, json_build_object('id', c.id, 'deleted_at', conversations.iso_utc(c.deleted_at), 'start', conversations.iso_utc(c.start_at), 'finish', conversations.iso_utc(c.finish_at),
     'journey_id', c.journey_id, 'step_id', c.step_id, 'event_id', c.event_id,
     'is_participant', c.participant_ids @> array[$1::integer],
     'room_participants', coalesce(jsonb_path_query_array(c.room, '$.participants[*] ? (@.personId == $p)', jsonb_build_object('p', $1::integer)), '[]'),
     'room_claims', coalesce((select jsonb_object_agg(key, value)
       from jsonb_each(case when jsonb_typeof(c.room -> 'claims') = 'object' then c.room -> 'claims' else '{}' end)
       where value -> 'personId' = to_jsonb($1::integer)), '{}'),
     'notes', coalesce((select json_agg(json_build_object('id', n.id, 'body', n.body, 'note_type', n.note_type,
         'created_at', conversations.iso_utc(n.created_at)) order by n.created_at, n.id)
       from conversations.notes n where n.conversation_id = c.id and n.author_person_id = $1::integer), '[]'))::text as item
   from conversations.all_conversations c
   where c.id > $2::integer and c.id <= $3::integer and ${concernsSql}
   order by c.id limit $4::integer`,
);

export interface LockedRow {
  readonly id: number;
  /** Nobody else took part. */
  readonly is_only_theirs: boolean;
}

/** $1 = person, $2 = after this id, $3 = up to this one, $4 = at most so many; holds the rows until the transaction ends. */
export const lockConcerned = statement(
  'person-data.lock',
  `select c.id, c.participant_ids = array[$1::integer] and not coalesce(jsonb_path_exists(c.room, '$.participants[*] ? (@.personId != $p)',
     jsonb_build_object('p', $1::integer)), false) as is_only_theirs
   from conversations.all_conversations c
   where c.id > $2::integer and c.id <= $3::integer and ${concernsSql}
   order by c.id limit $4::integer for update`,
);

/** $1 = ids. For good: nothing of a person who is erased can be restored. */
export const removeConversations = statement(
  'person-data.remove',
  'delete from conversations.all_conversations where id = any($1::integer[]) returning id',
);

/** $1 = person, $2 = ids. A booking's title is made of the names of those who take part, so it goes as well. */
export const leaveConversations = statement(
  'person-data.leave',
  `update conversations.all_conversations c
   set participant_ids = array_remove(c.participant_ids, $1::integer),
     config = case when c.participant_ids @> array[$1::integer] then c.config #- '{booking,title}' else c.config end,
     room = case when c.room is null then null else c.room
       || case when jsonb_typeof(c.room -> 'participants') <> 'array' then '{}' else jsonb_build_object('participants', (
            select coalesce(jsonb_agg(entry.value order by entry.place), '[]')
            from jsonb_array_elements(c.room -> 'participants') with ordinality as entry(value, place)
            where entry.value -> 'personId' is distinct from to_jsonb($1::integer))) end
       || case when jsonb_typeof(c.room -> 'claims') <> 'object' then '{}' else jsonb_build_object('claims', (
            select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(c.room -> 'claims')
            where value -> 'personId' is distinct from to_jsonb($1::integer))) end end,
     updated_at = greatest(clock_timestamp(), c.updated_at + interval '1 microsecond')
   where c.id = any($2::integer[])`,
);

/** $1 = person, $2 = ids. */
export const forgetAuthor = statement(
  'person-data.forget-author',
  `update conversations.notes set author_person_id = null
   where conversation_id = any($2::integer[]) and author_person_id = $1::integer returning id`,
);

/** $1 = ids of conversations, $2 = a name or an email: taken out of the notes, which bookings write with the names of those who come. */
export const removeFromNotes = statement(
  'person-data.remove-from-notes',
  `update conversations.notes set body = replace(body, $2::text, '[removed]')
   where conversation_id = any($1::integer[]) and position($2::text in body) > 0 returning id`,
);

/** $1 = ids of conversations. */
export const emptyReceiptsOf = statement(
  'person-data.empty-receipts',
  `update conversations.webhook_receipts set body = null, headers = '{}'
   where conversation_id = any($1::integer[]) and body is not null returning id`,
);

/** $1 = person, $2 = emails. */
export const emptyReceiptsNaming = statement(
  'person-data.empty-receipts-naming',
  `update conversations.webhook_receipts set body = null, headers = '{}'
   where body is not null and (person_id = $1::integer::text
     or exists (select from unnest($2::text[]) as given(email) where position(convert_to(given.email, 'UTF8') in body) > 0
       or position(convert_to(lower(given.email), 'UTF8') in body) > 0)) returning id`,
);
