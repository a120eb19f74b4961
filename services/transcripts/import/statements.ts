/** Statements on stored rows and speakers, and on imports that are late. */
import { type Database, type Queryable, statement } from '#libs/orm';
import type { StoredSpeaker } from '../speaker.ts';

const countOverdue = statement(
  'imports.overdue',
  `with recent as (
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
);

/** Conversations of the last days whose import is late. */
export async function countOverdueImports(db: Database): Promise<number> {
  const [row] = await db.query<{ overdue: number }>(countOverdue);
  return row?.overdue ?? 0;
}

const deleteRows = statement('transcript.delete', 'delete from transcript_rows where conversation_id = $1');

const insertRows = statement(
  'transcript.insert',
  `insert into transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
   select $1, r.start_us, r.position, r.end_us, r.person_id, r.text
   from unnest($2::bigint[], $3::integer[], $4::bigint[], $5::integer[], $6::text[]) as r (start_us, position, end_us, person_id, text)`,
);

const countRows = statement('transcript.count', 'select count(*)::integer as stored from transcript_rows where conversation_id = $1');

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

export async function saveSpeakers(tx: Queryable, conversationId: number, speakers: readonly StoredSpeaker[]): Promise<void> {
  await tx.query(upsertSpeakers, [
    conversationId,
    speakers.map((speaker) => speaker.key),
    speakers.map((speaker) => speaker.number),
    speakers.map((speaker) => speaker.personId),
    speakers.map((speaker) => speaker.displayName),
  ]);
}

export const touch = statement('install.touch', 'select 1');
