/**
 * Statements on personal data in conversations, including deleted ones (D67). They scan windows of ids, because room
 * contents have no index.
 */
import { type Parameter, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { nextUpdatedAt } from '../statements.ts';

/** Number of conversations that one statement scans. */
export const windowSize = 100_000;

/** True when the person has an entry in the room. */
const inParticipants = (personId: Parameter): Sql =>
  sql`jsonb_path_exists(c.room, '$.participants[*] ? (@.personId == $p)', jsonb_build_object('p', ${personId}))`;
const inClaims = (personId: Parameter): Sql =>
  sql`jsonb_path_exists(c.room, '$.claims.* ? (@.personId == $p)', jsonb_build_object('p', ${personId}))`;
const concerns = (personId: Parameter): Sql => sql`
  (c.participant_ids @> array[${personId}] or ${inParticipants(personId)} or ${inClaims(personId)}
    or exists (select from conversations.notes n where n.conversation_id = c.id and n.author_person_id = ${personId}))`;

/** Parameters of a page: ids after `after` and up to `end`, at most `limit` rows. */
const pageParams = { personId: t.integer, after: t.integer, end: t.integer, limit: t.integer };
const pageSql = ({ personId, after, end, limit }: Readonly<Record<keyof typeof pageParams, Parameter>>): Sql => sql`
  from conversations.all_conversations c
  where c.id > ${after} and c.id <= ${end} and ${concerns(personId)}
  order by c.id limit ${limit}`;

/** Returns the largest conversation id. */
export const findLastId = statement.one({
  name: 'person-data.last-id',
  row: { id: t.integer },
  sql: () => sql`select coalesce(max(id), 0) as id from conversations.all_conversations`,
});

/** Returns the person's data; `item` is JSON. */
export const exportConversations = statement.many({
  name: 'person-data.export',
  params: pageParams,
  row: { id: t.integer, item: t.text },
  sql: (params) => sql`
    select c.id, json_build_object('id', c.id, 'deleted_at', conversations.iso_utc(c.deleted_at),
      'start', conversations.iso_utc(c.start_at), 'finish', conversations.iso_utc(c.finish_at),
      'journey_id', c.journey_id, 'step_id', c.step_id, 'event_id', c.event_id,
      'is_participant', c.participant_ids @> array[${params.personId}],
      'room_participants', coalesce(jsonb_path_query_array(c.room, '$.participants[*] ? (@.personId == $p)',
        jsonb_build_object('p', ${params.personId})), '[]'),
      'room_claims', coalesce((select jsonb_object_agg(key, value)
        from jsonb_each(case when jsonb_typeof(c.room -> 'claims') = 'object' then c.room -> 'claims' else '{}' end)
        where value -> 'personId' = to_jsonb(${params.personId})), '{}'),
      'notes', coalesce((select json_agg(json_build_object('id', n.id, 'body', n.body, 'note_type', n.note_type,
          'created_at', conversations.iso_utc(n.created_at)) order by n.created_at, n.id)
        from conversations.notes n where n.conversation_id = c.id and n.author_person_id = ${params.personId}), '[]'))::text as item
    ${pageSql(params)}`,
});

/**
 * Locks the person's conversations until the end of the transaction. `is_sole_participant` is true when no other person
 * took part.
 */
export const lockConcerned = statement.many({
  name: 'person-data.lock',
  params: pageParams,
  row: { id: t.integer, is_sole_participant: t.boolean },
  sql: (params) => sql`
    select c.id, c.participant_ids = array[${params.personId}] and not coalesce(jsonb_path_exists(c.room,
      '$.participants[*] ? (@.personId != $p)', jsonb_build_object('p', ${params.personId})), false) as is_sole_participant
    ${pageSql(params)} for update`,
});

/** Removes conversations permanently, because data of an erased person must not be restorable. */
export const removeConversations = statement.many({
  name: 'person-data.remove',
  params: { ids: t.integer.array },
  row: { id: t.integer, event_id: t.integer.nullable, participants: t.text, was_deleted: t.boolean },
  sql: ({ ids }) => sql`
    delete from conversations.all_conversations c where c.id = any(${ids})
    returning c.id, c.event_id, c.participant_ids::text as participants, c.deleted_at is not null as was_deleted`,
});

/** Removes the person from conversations, and the title of the booking, which contains names of participants. */
export const removeParticipant = statement.none({
  name: 'person-data.leave',
  params: { personId: t.integer, ids: t.integer.array },
  sql: ({ personId, ids }) => sql`
    update conversations.all_conversations c
    set participant_ids = array_remove(c.participant_ids, ${personId}),
      config = case when c.participant_ids @> array[${personId}] then c.config #- '{booking,title}' else c.config end,
      room = case when c.room is null then null else c.room
        || case when jsonb_typeof(c.room -> 'participants') <> 'array' then '{}' else jsonb_build_object('participants', (
             select coalesce(jsonb_agg(entry.value order by entry.ordinal), '[]')
             from jsonb_array_elements(c.room -> 'participants') with ordinality as entry(value, ordinal)
             where entry.value -> 'personId' is distinct from to_jsonb(${personId}))) end
        || case when jsonb_typeof(c.room -> 'claims') <> 'object' then '{}' else jsonb_build_object('claims', (
             select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(c.room -> 'claims')
             where value -> 'personId' is distinct from to_jsonb(${personId}))) end end,
      updated_at = ${nextUpdatedAt}
    where c.id = any(${ids})`,
});

export const clearNoteAuthor = statement.many({
  name: 'person-data.forget-author',
  params: { personId: t.integer, ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ personId, ids }) => sql`
    update conversations.notes set author_person_id = null
    where conversation_id = any(${ids}) and author_person_id = ${personId} returning id`,
});

/** Removes a name or email from notes; booking notes contain participants' names. */
export const removeFromNotes = statement.many({
  name: 'person-data.remove-from-notes',
  params: { ids: t.integer.array, text: t.text },
  row: { id: t.integer },
  sql: ({ ids, text }) => sql`
    update conversations.notes set body = replace(body, ${text}, '[removed]')
    where conversation_id = any(${ids}) and position(${text} in body) > 0 returning id`,
});

/** Clears the bodies of booking receipts; `ids` are conversation ids. */
export const clearReceiptsOf = statement.many({
  name: 'person-data.empty-receipts',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`
    update conversations.webhook_receipts set body = null, headers = '{}'
    where conversation_id = any(${ids}) and body is not null returning id`,
});

export const clearReceiptsNaming = statement.many({
  name: 'person-data.empty-receipts-naming',
  params: { personId: t.integer, emails: t.text.array },
  row: { id: t.integer },
  sql: ({ personId, emails }) => sql`
    update conversations.webhook_receipts set body = null, headers = '{}'
    where body is not null and (person_id = ${personId}::text
      or exists (select from unnest(${emails}) as given(email) where position(convert_to(given.email, 'UTF8') in body) > 0
        or position(convert_to(lower(given.email), 'UTF8') in body) > 0)) returning id`,
});

/**
 * Replaces the merged person by the surviving one, once per conversation. Room entries and claims of both are not
 * combined, because they belong to different browsers.
 */
export const changeParticipant = statement.none({
  name: 'person-data.change-participant',
  params: { mergedId: t.integer, targetId: t.integer, ids: t.integer.array },
  sql: ({ mergedId, targetId, ids }) => sql`
    update conversations.all_conversations c
    set participant_ids = array(select own.id from unnest(array_replace(c.participant_ids, ${mergedId}, ${targetId})) with ordinality as own(id, ordinal)
          group by own.id order by min(own.ordinal)),
      room = case when c.room is null then null else c.room
        || case when jsonb_typeof(c.room -> 'participants') <> 'array' then '{}' else jsonb_build_object('participants', (
             select coalesce(jsonb_agg(case when entry.value -> 'personId' = to_jsonb(${mergedId})
               then entry.value || jsonb_build_object('personId', ${targetId}) else entry.value end order by entry.ordinal), '[]')
             from jsonb_array_elements(c.room -> 'participants') with ordinality as entry(value, ordinal))) end
        || case when jsonb_typeof(c.room -> 'claims') <> 'object' then '{}' else jsonb_build_object('claims', (
             select coalesce(jsonb_object_agg(key, case when value -> 'personId' = to_jsonb(${mergedId})
               then value || jsonb_build_object('personId', ${targetId}) else value end), '{}') from jsonb_each(c.room -> 'claims'))) end end,
      updated_at = ${nextUpdatedAt}
    where c.id = any(${ids})`,
});

export const changeAuthor = statement.none({
  name: 'person-data.change-author',
  params: { mergedId: t.integer, targetId: t.integer, ids: t.integer.array },
  sql: ({ mergedId, targetId, ids }) => sql`
    update conversations.notes set author_person_id = ${targetId} where conversation_id = any(${ids}) and author_person_id = ${mergedId}`,
});

/** Updates receipts of webhooks on the path of the merged person. */
export const changeHost = statement.none({
  name: 'person-data.change-host',
  params: { mergedId: t.integer, targetId: t.integer },
  sql: ({ mergedId, targetId }) => sql`
    update conversations.webhook_receipts set person_id = ${targetId}::text where person_id = ${mergedId}::text`,
});

/** Updates hosts and attendees of bookings. */
export const changeBookings = statement.none({
  name: 'person-data.change-bookings',
  params: { mergedId: t.integer, targetId: t.integer },
  sql: ({ mergedId, targetId }) => sql`
    with hosts as (
      insert into conversations.booking_hosts (booking_id, person_id)
      select booking_id, ${targetId} from conversations.booking_hosts where person_id = ${mergedId} on conflict do nothing
    ), former as (
      delete from conversations.booking_hosts where person_id = ${mergedId}
    )
    update conversations.booking_attendees set person_id = ${targetId} where person_id = ${mergedId}`,
});

/**
 * Removes the person as attendee and host, and marks the bookings, so that reconciliation does not add the person
 * again.
 */
export const removeAttendee = statement.none({
  name: 'person-data.leave-bookings',
  params: { personId: t.integer, attendees: t.text.array },
  sql: ({ personId, attendees }) => sql`
    with hosts as (
      delete from conversations.booking_hosts where person_id = ${personId}
    ), gone as (
      delete from conversations.booking_attendees where person_id = ${personId} or (person_id is null and attendee = any(${attendees}))
      returning booking_id
    )
    update conversations.bookings set was_erased_from = true where id in (select booking_id from gone)`,
});
