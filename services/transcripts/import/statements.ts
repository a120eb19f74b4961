/** Statements on stored rows and speakers, and on overdue imports. */
import { sql, statement, t } from '#libs/infrastructure/sql';

/**
 * Counts overdue imports of the last days by the rule of the alert on late transcripts: conversations with a complete
 * window but without imported evidence after two hours.
 */
export const countOverdueImports = statement.one({
  name: 'imports.overdue',
  row: { overdue: t.integer },
  sql: () => sql`
    with recent as (
      select (payload->>'conversation_id')::integer as conversation_id from jobs
      where state <> 'succeeded' and type = 'transcripts.transcript-import'
        and alive_since between now() - interval '8 days' and now() - interval '2 hours'
      union
      select conversation_id from import_evidence
      where status in ('transcript_window_empty', 'install_refused_or_incomplete')
        and recorded_at between now() - interval '8 days' and now() - interval '2 hours'
    )
    select count(*)::integer as overdue from recent r
    where not exists (select from import_evidence e where e.conversation_id = r.conversation_id and e.status = 'imported')`,
});

export const deleteRows = statement.none({
  name: 'transcript.delete',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`delete from transcript_rows where conversation_id = ${conversationId}`,
});

/**
 * Returns the digest of the visible transcript with its rows and speakers; null without rows. Memory and sorting do not
 * grow with the number of rows.
 */
export const digestTranscript = statement.one({
  name: 'transcript.digest',
  params: { conversationId: t.integer },
  row: { digest: t.text.nullable },
  sql: ({ conversationId }) => sql`
    select rows.digest || '/' || coalesce(speakers.digest, '') as digest
    from (select sum(hashtextextended(concat_ws(chr(31), start_us, position, end_us, person_id, text), 0)) || '/' || nullif(count(*), 0) as digest
          from transcript_rows where conversation_id = ${conversationId}) as rows,
      (select md5(string_agg(concat_ws(chr(31), speaker_key, number, person_id, display_name), chr(30) order by speaker_key)) as digest
       from speakers where conversation_id = ${conversationId}) as speakers`,
});

/**
 * Inserts rows that are passed column by column. `starts` and `ends` are microseconds from the window's start as
 * digits, because they can exceed the precision of a double.
 */
export const insertRows = statement.none({
  name: 'transcript.insert',
  params: {
    conversationId: t.integer,
    starts: t.text.array,
    positions: t.integer.array,
    ends: t.text.array,
    personIds: t.integer.array,
    texts: t.text.array,
  },
  sql: ({ conversationId, starts, positions, ends, personIds, texts }) => sql`
    insert into transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
    select ${conversationId}, r.start_us::bigint, r.position, r.end_us::bigint, r.person_id, r.text
    from unnest(${starts}, ${positions}, ${ends}, ${personIds}, ${texts}) as r (start_us, position, end_us, person_id, text)`,
});

export const countRows = statement.one({
  name: 'transcript.count',
  params: { conversationId: t.integer },
  row: { stored: t.integer },
  sql: ({ conversationId }) => sql`
    select count(*)::integer as stored from transcript_rows where conversation_id = ${conversationId}`,
});

/** Inserts or updates speakers that are passed column by column. The number of an existing speaker does not change. */
export const upsertSpeakers = statement.none({
  name: 'speakers.upsert',
  params: {
    conversationId: t.integer,
    keys: t.text.array,
    numbers: t.integer.arrayWithNulls,
    personIds: t.integer.arrayWithNulls,
    displayNames: t.text.arrayWithNulls,
  },
  sql: ({ conversationId, keys, numbers, personIds, displayNames }) => sql`
    insert into speakers as s (conversation_id, speaker_key, number, person_id, display_name)
    select ${conversationId}, n.speaker_key, n.number, n.person_id, n.display_name
    from unnest(${keys}, ${numbers}, ${personIds}, ${displayNames}) as n (speaker_key, number, person_id, display_name)
    on conflict (conversation_id, speaker_key) do update set number = coalesce(s.number, excluded.number), person_id = excluded.person_id,
      display_name = coalesce(excluded.display_name, s.display_name)`,
});

/** Prevents the idle timeout of a transaction that stores nothing for a while. */
export const keepTransactionAlive = statement.none({ name: 'install.touch', sql: () => sql`select 1` });
