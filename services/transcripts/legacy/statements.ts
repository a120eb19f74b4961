/** Statements on rows of bulk imports, which process many conversations at once. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

/** Acquires the locks that the import of one conversation uses, in order. */
export const lockConversations = statement.none({
  name: 'legacy.lock',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`
    select count(pg_advisory_xact_lock(hashtextextended('transcripts.conversation', id)))
    from (select id::bigint from unnest(${ids}) as i(id) order by id) as ordered`,
});

const stateRow = {
  id: t.integer,
  /** Whether the conversation is permanently deleted: nothing may be stored. */
  is_forgotten: t.boolean,
  /** Whether the stored rows were filtered by a window; unfiltered rows never replace them (D7). */
  contract_import: t.boolean,
  /** Digest of the rows of an earlier import; null before the first one. */
  sha256: t.text.nullable,
};
export type LegacyState = RowOf<typeof stateRow>;

export const listStates = statement.many({
  name: 'legacy.states',
  params: { ids: t.integer.array },
  row: stateRow,
  sql: ({ ids }) => sql`
    select i.id, f.conversation_id is not null as is_forgotten, coalesce(e.contract_import, false) as contract_import, l.sha256
    from unnest(${ids}) as i(id)
    left join forgotten_conversations f on f.conversation_id = i.id
    left join import_evidence e on e.conversation_id = i.id
    left join legacy_transcripts l on l.conversation_id = i.id`,
});

/**
 * Deletes the rows of conversations. `filledIds` are conversations that get new rows: `legacy_unbounded` replaces the
 * evidence of runs without a usable window (D7a).
 */
export const clearTranscripts = statement.none({
  name: 'legacy.clear',
  params: { ids: t.integer.array, filledIds: t.integer.array },
  sql: ({ ids, filledIds }) => sql`
    with gone_rows as (delete from transcript_rows where conversation_id = any(${ids})),
      gone_speakers as (delete from speakers where conversation_id = any(${ids}))
    delete from import_evidence
    where conversation_id = any(${ids}) and (conversation_id = any(${filledIds}) or status = 'legacy_unbounded')`,
});

/** Inserts rows that are passed column by column. Times are microseconds as digits. */
export const insertRows = statement.none({
  name: 'legacy.insert-rows',
  params: {
    conversationIds: t.integer.array,
    starts: t.text.array,
    positions: t.integer.array,
    ends: t.text.array,
    personIds: t.integer.array,
    texts: t.text.array,
  },
  sql: ({ conversationIds, starts, positions, ends, personIds, texts }) => sql`
    insert into transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
    select r.conversation_id, r.start_us::bigint, r.position, r.end_us::bigint, r.person_id, r.text
    from unnest(${conversationIds}, ${starts}, ${positions}, ${ends}, ${personIds}, ${texts})
      as r (conversation_id, start_us, position, end_us, person_id, text)`,
});

/** Inserts speakers that are passed column by column. */
export const insertSpeakers = statement.none({
  name: 'legacy.insert-speakers',
  params: {
    conversationIds: t.integer.array,
    keys: t.text.array,
    numbers: t.integer.arrayWithNulls,
    personIds: t.integer.arrayWithNulls,
    displayNames: t.text.arrayWithNulls,
  },
  sql: ({ conversationIds, keys, numbers, personIds, displayNames }) => sql`
    insert into speakers (conversation_id, speaker_key, number, person_id, display_name)
    select * from unnest(${conversationIds}, ${keys}, ${numbers}, ${personIds}, ${displayNames})`,
});

export const saveDigests = statement.none({
  name: 'legacy.save-digests',
  params: { conversationIds: t.integer.array, digests: t.text.array },
  sql: ({ conversationIds, digests }) => sql`
    insert into legacy_transcripts as l (conversation_id, sha256) select * from unnest(${conversationIds}, ${digests})
    on conflict (conversation_id) do update set sha256 = excluded.sha256, installed_at = clock_timestamp()`,
});
