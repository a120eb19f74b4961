/** Import evidence and the marks of deleted conversations, by named queries. */
import { type Queryable, statement } from '#libs/orm';
import { formatInstant } from '#libs/time';
import type { ImportStatus } from './contract.ts';
import { type EvidenceRecord, type EvidenceState, statusWithoutRecord } from './rules.ts';

/** Serialises writers of one conversation's rows and evidence until the transaction ends. */
export const lockConversation = statement(
  'evidence.lock',
  `select pg_advisory_xact_lock(hashtextextended('transcripts.conversation', $1::bigint))::text`,
);

const selectForgotten = statement('evidence.forgotten', 'select 1 from forgotten_conversations where conversation_id = $1');

const selectState = statement(
  'evidence.state',
  `select e.status, coalesce(e.contract_import, false) as contract_import,
     exists (select from transcript_rows r where r.conversation_id = c.id) as has_rows
   from (values ($1::integer)) as c (id) left join import_evidence e on e.conversation_id = c.id`,
);

const upsertEvidence = statement(
  'evidence.upsert',
  `insert into import_evidence as e (conversation_id, status, contract_import, session_id, session_started_at, artifact_sha256, artifact_bytes,
     window_start, window_end, raw, accepted, installed_segments, excluded)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::jsonb)
   on conflict (conversation_id) do update set status = excluded.status, contract_import = e.contract_import or excluded.contract_import,
     session_id = excluded.session_id, session_started_at = excluded.session_started_at, artifact_sha256 = excluded.artifact_sha256,
     artifact_bytes = excluded.artifact_bytes, window_start = excluded.window_start, window_end = excluded.window_end, raw = excluded.raw,
     accepted = excluded.accepted, installed_segments = excluded.installed_segments, excluded = excluded.excluded,
     recorded_at = clock_timestamp()`,
);

/** The reply of the operation, made by SQL (rules/transcripts#import-evidence); instants with an explicit offset (rules/http#datetimes-out). */
const evidenceJson = `json_build_object(
     'conversationId', c.id, 'status', s.status, 'failureReason', nullif(s.status, 'imported'),
     'contractImport', coalesce(e.contract_import, false),
     'artifact', case when e.artifact_sha256 is not null then
       json_build_object('sessionId', e.session_id, 'sha256', e.artifact_sha256, 'bytes', e.artifact_bytes) end,
     'window', case when e.window_start is not null then json_build_object(
       'conversationStartedAt', replace(iso_utc(e.window_start), 'Z', '+00:00'), 'captureEndedAt', replace(iso_utc(e.window_end), 'Z', '+00:00')) end,
     'counts', case when e.raw is not null then json_build_object(
       'raw', e.raw, 'accepted', e.accepted, 'installedSegments', e.installed_segments, 'excludedByReason', e.excluded) end)`;

const evidenceOf = (conversations: string): string => `${conversations} left join import_evidence e on e.conversation_id = c.id
   cross join lateral (select coalesce(e.status, case when exists (select from transcript_rows r where r.conversation_id = c.id)
     then '${statusWithoutRecord(true)}' else '${statusWithoutRecord(false)}' end) as status) s`;

const selectEvidence = statement(
  'evidence.get',
  `select ${evidenceJson}::text as evidence from ${evidenceOf('(values ($1::integer)) as c (id)')}`,
);

const selectBases = statement(
  'evidence.list-bases',
  `select json_build_object('items', coalesce(json_agg(json_build_object(
     'evidence', ${evidenceJson}, 'session_started_at', iso_utc(e.session_started_at)) order by c.id), '[]'))::text as bases
   from ${evidenceOf(`(select $1::integer as id where $1 is not null
     union select conversation_id from import_evidence where artifact_sha256 = $2) as c`)}`,
);

/** Waits for other writers of the conversation; false when the conversation was deleted and nothing may be stored any more. */
export async function lockForWriting(tx: Queryable, conversationId: number): Promise<boolean> {
  await tx.query(lockConversation, [conversationId]);
  return (await tx.query(selectForgotten, [conversationId])).length === 0;
}

export async function readEvidenceState(tx: Queryable, conversationId: number): Promise<EvidenceState> {
  const [row] = await tx.query<{ status: ImportStatus | null; contract_import: boolean; has_rows: boolean }>(selectState, [conversationId]);
  const hasRows = row?.has_rows ?? false;
  return { status: row?.status ?? statusWithoutRecord(hasRows), contractImport: row?.contract_import ?? false, hasRows };
}

export async function saveEvidence(tx: Queryable, conversationId: number, record: EvidenceRecord): Promise<void> {
  const { artifact, window, counts } = record;
  await tx.query(upsertEvidence, [
    conversationId,
    record.status,
    record.contractImport,
    artifact?.sessionId ?? null,
    artifact === null ? null : formatInstant(artifact.sessionStart),
    artifact?.sha256 ?? null,
    artifact?.bytes ?? null,
    window === null ? null : formatInstant(window.start),
    window === null ? null : formatInstant(window.end),
    counts?.raw ?? null,
    counts?.accepted ?? null,
    record.installedSegments,
    counts === null ? null : JSON.stringify(counts.excludedByReason),
  ]);
}

/** The evidence as JSON text of the operation's reply. */
export async function readEvidenceJson(db: Queryable, conversationId: number): Promise<string> {
  const [row] = await db.query<{ evidence: string }>(selectEvidence, [conversationId]);
  return row?.evidence ?? '';
}

/** Evidence and start of the session, of one conversation or of all that read an artifact, as JSON text of the operation's reply. */
export async function listBasesJson(db: Queryable, by: { conversationId?: number; sha256?: string }): Promise<string> {
  const [row] = await db.query<{ bases: string }>(selectBases, [by.conversationId ?? null, by.sha256 ?? null]);
  return row?.bases ?? '';
}
