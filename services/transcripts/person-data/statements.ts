/**
 * Statements on a person's utterances. Transcripts are found through the speakers, because everyone with utterances is
 * a speaker.
 */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns a person's rows after the given conversation, start and position. */
export const listUtterances = statement.many({
  name: 'person-data.spoken',
  params: {
    personId: t.integer,
    afterConversation: t.integer,
    afterStart: t.bigint,
    afterPosition: t.integer,
    limit: t.integer,
  },
  row: { conversation_id: t.integer, start_us: t.bigint, position: t.integer, end_us: t.bigint, text: t.text },
  sql: ({ personId, afterConversation, afterStart, afterPosition, limit }) => sql`
    select r.conversation_id, r.start_us, r.position, r.end_us, r.text
    from (select distinct conversation_id from speakers where person_id = ${personId} and conversation_id >= ${afterConversation}) as own
    join transcript_rows r on r.conversation_id = own.conversation_id and r.person_id = ${personId}
    where (r.conversation_id, r.start_us, r.position) > (${afterConversation}, ${afterStart}, ${afterPosition})
    order by r.conversation_id, r.start_us, r.position limit ${limit}`,
});

export const listConversationsOfSpeaker = statement.many({
  name: 'person-data.conversations',
  params: { personId: t.integer, after: t.integer, limit: t.integer },
  row: { id: t.integer },
  sql: ({ personId, after, limit }) => sql`
    select distinct conversation_id as id from speakers where person_id = ${personId} and conversation_id > ${after}
    order by conversation_id limit ${limit}`,
});

/**
 * Replaces the utterances of a speaker with `text`. Requires the conversation's lock. `rows`: number of changed rows.
 */
export const anonymizeSpeaker = statement.one({
  name: 'person-data.anonymise',
  params: { conversationId: t.integer, personId: t.integer, text: t.text },
  row: { rows: t.integer },
  sql: ({ conversationId, personId, text }) => sql`
    with given as (
      select (select coalesce(max(number), 0) from speakers where conversation_id = ${conversationId}) + 1 as fresh
    ), nameless as (
      update speakers s set number = given.fresh + own.place, person_id = null, display_name = null, erased = true
      from (select speaker_key, (row_number() over (order by speaker_key) - 1)::integer as place
            from speakers where conversation_id = ${conversationId} and person_id = ${personId}) as own, given
      where s.conversation_id = ${conversationId} and s.speaker_key = own.speaker_key
    ), found as (
      delete from search_segments where conversation_id = ${conversationId} and person_id = ${personId}
    ), spoken as (
      update transcript_rows r set text = ${text}, person_id = -given.fresh from given
      where r.conversation_id = ${conversationId} and r.person_id = ${personId}
      returning 1
    )
    select count(*)::integer as rows from spoken`,
});

/** Attributes the utterances of a merged person to the surviving person. Requires the conversation's lock. */
export const changeSpeaker = statement.none({
  name: 'person-data.change-speaker',
  params: { conversationId: t.integer, mergedId: t.integer, intoId: t.integer },
  sql: ({ conversationId, mergedId, intoId }) => sql`
    with known as (
      update speakers set person_id = ${intoId} where conversation_id = ${conversationId} and person_id = ${mergedId}
    ), found as (
      update search_segments set person_id = ${intoId} where conversation_id = ${conversationId} and person_id = ${mergedId}
    )
    update transcript_rows set person_id = ${intoId} where conversation_id = ${conversationId} and person_id = ${mergedId}`,
});

/** Replaces a merged person as participant, since participants decide the access to a transcript. */
export const changeParticipant = statement.none({
  name: 'person-data.change-participant',
  params: { mergedId: t.integer, intoId: t.integer },
  sql: ({ mergedId, intoId }) => sql`
    update search_conversations set participant_ids = array_append(array_remove(array_remove(participant_ids, ${mergedId}), ${intoId}), ${intoId})
    where participant_ids @> array[${mergedId}]`,
});

/**
 * Waits for installs that are about to commit. Later installs see the marks that this transaction sets after this
 * statement.
 */
export const lockErased = statement.none({
  name: 'person-data.lock-gone',
  sql: () => sql`select pg_advisory_xact_lock(hashtextextended('transcripts.gone-people', 0))`,
});

/** Prevents people from being marked until the transaction ends. */
export const shareErasedLock = statement.none({
  name: 'person-data.share-gone',
  sql: () => sql`select pg_advisory_xact_lock_shared(hashtextextended('transcripts.gone-people', 0))`,
});

/**
 * Marks a person; `intoId` null = erased, which is permanent. If the surviving person has since been merged or erased,
 * the mark is resolved. Marks of people merged into the person are updated.
 */
export const markErased = statement.maybeOne({
  name: 'person-data.mark-gone',
  params: { personId: t.integer, intoId: t.integer.nullable },
  row: { intoId: t.integer.nullable },
  sql: ({ personId, intoId }) => sql`
    with stays as (
      select case when g.person_id is null then ${intoId} else g.into_id end as id
      from (select) as one left join gone_people g on g.person_id = ${intoId}
    ), earlier as (
      update gone_people set into_id = stays.id from stays where into_id = ${personId}
    )
    insert into gone_people as g (person_id, into_id) select ${personId}, stays.id from stays
    on conflict (person_id) do update set into_id = excluded.into_id where g.into_id is not null
    returning into_id as "intoId"`,
});

/** Returns the erased and merged speakers of these conversations. */
export const listErased = statement.many({
  name: 'person-data.list-gone',
  params: { conversationIds: t.integer.array },
  row: { conversationId: t.integer, personId: t.integer, intoId: t.integer.nullable },
  sql: ({ conversationIds }) => sql`
    select distinct s.conversation_id as "conversationId", g.person_id as "personId", g.into_id as "intoId"
    from speakers s join gone_people g on g.person_id = s.person_id where s.conversation_id = any(${conversationIds})
    order by 1, 2`,
});
