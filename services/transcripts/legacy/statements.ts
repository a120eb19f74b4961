/** Rows of bulk imports, for many conversations in a few statements. */
import { statement, type Queryable } from '#libs/orm';
import type { LegacyTranscript } from './rules.ts';

/** The same locks as of one conversation's import, taken in order. */
const lockConversations = statement(
  'legacy.lock',
  `select count(pg_advisory_xact_lock(hashtextextended('transcripts.conversation', id)))
   from (select id::bigint from unnest($1::integer[]) as i(id) order by id) as ordered`,
);

const selectStates = statement(
  'legacy.states',
  `select i.id, f.conversation_id is not null as is_forgotten, coalesce(e.contract_import, false) as contract_import, l.sha256
   from unnest($1::integer[]) as i(id)
   left join forgotten_conversations f on f.conversation_id = i.id
   left join import_evidence e on e.conversation_id = i.id
   left join legacy_transcripts l on l.conversation_id = i.id`,
);

/** `$1` = ids, `$2` = those of them that get rows. Evidence of runs without a usable window gives way to `legacy_unbounded` (D7a). */
const clear = statement(
  'legacy.clear',
  `with gone_rows as (delete from transcript_rows where conversation_id = any($1::integer[])),
     gone_speakers as (delete from speakers where conversation_id = any($1::integer[]))
   delete from import_evidence
   where conversation_id = any($1::integer[]) and (conversation_id = any($2::integer[]) or status = 'legacy_unbounded')`,
);

const insertRows = statement(
  'legacy.insert-rows',
  `insert into transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
   select * from unnest($1::integer[], $2::bigint[], $3::integer[], $4::bigint[], $5::integer[], $6::text[])`,
);

const insertSpeakers = statement(
  'legacy.insert-speakers',
  `insert into speakers (conversation_id, speaker_key, number, person_id, display_name)
   select * from unnest($1::integer[], $2::text[], $3::integer[], $4::integer[], $5::text[])`,
);

const saveDigests = statement(
  'legacy.save-digests',
  `insert into legacy_transcripts as l (conversation_id, sha256) select * from unnest($1::integer[], $2::text[])
   on conflict (conversation_id) do update set sha256 = excluded.sha256, installed_at = clock_timestamp()`,
);

export interface LegacyState {
  readonly id: number;
  /** The conversation was deleted: nothing may be stored any more. */
  readonly is_forgotten: boolean;
  /** Its rows were cut under a window; uncut ones never replace them (D7). */
  readonly contract_import: boolean;
  /** Digest of the rows of an earlier import; null before the first one. */
  readonly sha256: string | null;
}

/** Waits for other writers of these conversations until the end of the transaction. */
export async function lockLegacy(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx.query(lockConversations, [ids]);
}

export async function readLegacyStates(db: Queryable, ids: readonly number[]): Promise<Map<number, LegacyState>> {
  const rows = await db.query<LegacyState>(selectStates, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

const rowsPerStatement = 20_000;

/** Replaces the rows of these conversations. */
export async function installLegacy(tx: Queryable, transcripts: readonly LegacyTranscript[]): Promise<void> {
  const ids = transcripts.map(({ conversationId }) => conversationId);
  const filled = transcripts.filter(({ rows }) => rows.length > 0).map(({ conversationId }) => conversationId);
  await tx.query(clear, [ids, filled]);
  const rows = transcripts.flatMap(({ conversationId: id, rows: own }) => own.map((row) => ({ id, ...row })));
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const part = rows.slice(start, start + rowsPerStatement);
    await tx.query(insertRows, [
      part.map((row) => row.id),
      part.map((row) => row.startUs),
      part.map((row) => row.position),
      part.map((row) => row.endUs),
      part.map((row) => row.personId),
      part.map((row) => row.text),
    ]);
  }
  const speakers = transcripts.flatMap(({ conversationId: id, speakers: own }) => own.map((speaker) => ({ id, ...speaker })));
  await tx.query(insertSpeakers, [
    speakers.map((speaker) => speaker.id),
    speakers.map((speaker) => speaker.key),
    speakers.map((speaker) => speaker.number),
    speakers.map((speaker) => speaker.personId),
    speakers.map((speaker) => speaker.displayName),
  ]);
  await tx.query(saveDigests, [ids, transcripts.map(({ sha256 }) => sha256)]);
}
