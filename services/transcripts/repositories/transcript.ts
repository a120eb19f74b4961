/** Transcript rows and speakers, by named queries. */
import { statement, type Queryable } from '#libs/orm';
import type { TranscriptRow } from '../domain/markdown.ts';
import type { StoredSpeaker } from '../domain/speaker.ts';

const deleteRows = statement('transcript.delete', 'delete from transcript_rows where conversation_id = $1');

const insertRows = statement(
  'transcript.insert',
  `insert into transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
   select $1, r.start_us, r.position, r.end_us, r.person_id, r.text
   from unnest($2::bigint[], $3::integer[], $4::bigint[], $5::integer[], $6::text[]) as r (start_us, position, end_us, person_id, text)`,
);

const countRows = statement('transcript.count', 'select count(*)::integer as stored from transcript_rows where conversation_id = $1');

const selectPage = statement(
  'transcript.page',
  `select start_us, position, person_id, text from transcript_rows
   where conversation_id = $1 and (start_us, position) > ($2::bigint, $3::integer) order by start_us, position limit $4`,
);

const selectSpoke = statement('transcript.spoke', 'select 1 from transcript_rows where conversation_id = $1 and person_id = $2 limit 1');

const selectSpeakers = statement(
  'speakers.list',
  'select speaker_key, number, person_id, display_name from speakers where conversation_id = $1',
);

const upsertSpeakers = statement(
  'speakers.upsert',
  `insert into speakers as s (conversation_id, speaker_key, number, person_id, display_name)
   select $1, n.speaker_key, n.number, n.person_id, n.display_name
   from unnest($2::text[], $3::integer[], $4::integer[], $5::text[]) as n (speaker_key, number, person_id, display_name)
   on conflict (conversation_id, speaker_key) do update set number = coalesce(s.number, excluded.number), person_id = excluded.person_id,
     display_name = coalesce(excluded.display_name, s.display_name)`,
);

/** A row as it is stored; times in microseconds from the window's start. */
export interface NewRow {
  readonly startUs: bigint;
  /** Order among rows with the same start. */
  readonly position: number;
  readonly endUs: bigint;
  readonly personId: number;
  readonly text: string;
}

export async function deleteTranscript(tx: Queryable, conversationId: number): Promise<void> {
  await tx.query(deleteRows, [conversationId]);
}

export async function addRows(tx: Queryable, conversationId: number, rows: readonly NewRow[]): Promise<void> {
  await tx.query(insertRows, [
    conversationId,
    rows.map((row) => row.startUs.toString()),
    rows.map((row) => row.position),
    rows.map((row) => row.endUs.toString()),
    rows.map((row) => row.personId),
    rows.map((row) => row.text),
  ]);
}

export async function countStoredRows(tx: Queryable, conversationId: number): Promise<number> {
  const [row] = await tx.query<{ stored: number }>(countRows, [conversationId]);
  return row?.stored ?? 0;
}

const rowsPerPage = 2_000;
const minBigint = '-9223372036854775808';

/** The rows in stored order, page by page: no connection is held while a slow reader takes its time. */
export async function* readTranscript(db: Queryable, conversationId: number): AsyncGenerator<TranscriptRow[]> {
  let after: { start_us: number | string; position: number } = { start_us: minBigint, position: 0 };
  for (;;) {
    const params = [conversationId, after.start_us, after.position, rowsPerPage];
    const page = await db.query<{ start_us: number; position: number; person_id: number; text: string }>(selectPage, params);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((row) => ({ startUs: row.start_us, personId: row.person_id, text: row.text }));
    if (page.length < rowsPerPage) return;
    after = last;
  }
}

/** True when rows of the conversation are attributed to this id. */
export async function hasUtterances(db: Queryable, conversationId: number, personId: number): Promise<boolean> {
  return (await db.query(selectSpoke, [conversationId, personId])).length > 0;
}

export async function listSpeakers(db: Queryable, conversationId: number): Promise<StoredSpeaker[]> {
  const rows = await db.query<{ speaker_key: string; number: number | null; person_id: number | null; display_name: string | null }>(
    selectSpeakers,
    [conversationId],
  );
  return rows.map((row) => ({ key: row.speaker_key, number: row.number, personId: row.person_id, displayName: row.display_name }));
}

export async function saveSpeakers(tx: Queryable, conversationId: number, speakers: readonly StoredSpeaker[]): Promise<void> {
  await tx.query(upsertSpeakers, [
    conversationId,
    speakers.map((speaker) => speaker.key),
    speakers.map((speaker) => speaker.number),
    speakers.map((speaker) => speaker.personId),
    speakers.map((speaker) => speaker.displayName),
  ]);
}
