/** Statements on import evidence and permanently deleted conversations. */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import type { ArtifactFormat } from '../artifact/index.ts';
import type { ImportStatus } from './contract.ts';
import { statusWithoutRecord } from './rules.ts';

/** Locks rows and evidence of a conversation until the transaction ends. */
export const lockConversation = statement.none({
  name: 'evidence.lock',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`
    select pg_advisory_xact_lock(hashtextextended('transcripts.conversation', ${conversationId}::bigint))`,
});

/** Returns a row when the conversation is permanently deleted and nothing may be stored. */
export const findPermanentlyDeleted = statement.maybeOne({
  name: 'evidence.forgotten',
  params: { conversationId: t.integer },
  row: { conversation_id: t.integer },
  sql: ({ conversationId }) => sql`
    select conversation_id from forgotten_conversations where conversation_id = ${conversationId}`,
});

export const getState = statement.one({
  name: 'evidence.state',
  params: { conversationId: t.integer },
  row: {
    status: t.text.as<ImportStatus>().nullable,
    contract_import: t.boolean,
    has_rows: t.boolean,
    artifact_sha256: t.text.nullable,
    window_start: t.text.nullable,
    window_end: t.text.nullable,
  },
  sql: ({ conversationId }) => sql`
    select e.status, coalesce(e.contract_import, false) as contract_import,
      exists (select from transcript_rows r where r.conversation_id = c.id) as has_rows,
      e.artifact_sha256, iso_utc(e.window_start) as window_start, iso_utc(e.window_end) as window_end
    from (values (${conversationId})) as c (id) left join import_evidence e on e.conversation_id = c.id`,
});

export const upsertEvidence = statement.none({
  name: 'evidence.upsert',
  params: {
    conversationId: t.integer,
    status: t.text.as<ImportStatus>(),
    contractImport: t.boolean,
    sessionId: t.text.nullable,
    sessionStartedAt: t.instant.nullable,
    artifactSha256: t.text.nullable,
    artifactBytes: t.bigint.nullable,
    artifactFormat: t.text.as<ArtifactFormat>().nullable,
    windowStart: t.instant.nullable,
    windowEnd: t.instant.nullable,
    raw: t.integer.nullable,
    accepted: t.integer.nullable,
    installedSegments: t.integer.nullable,
    excluded: t.json.nullable,
  },
  sql: (given) => sql`
    insert into import_evidence as e (conversation_id, status, contract_import, session_id, session_started_at, artifact_sha256,
      artifact_bytes, artifact_format, window_start, window_end, raw, accepted, installed_segments, excluded)
    values (${given.conversationId}, ${given.status}, ${given.contractImport}, ${given.sessionId}, ${given.sessionStartedAt},
      ${given.artifactSha256}, ${given.artifactBytes}, ${given.artifactFormat}, ${given.windowStart}, ${given.windowEnd}, ${given.raw}, ${given.accepted},
      ${given.installedSegments}, ${given.excluded})
    on conflict (conversation_id) do update set status = excluded.status, contract_import = e.contract_import or excluded.contract_import,
      session_id = excluded.session_id, session_started_at = excluded.session_started_at, artifact_sha256 = excluded.artifact_sha256,
      artifact_bytes = excluded.artifact_bytes, artifact_format = excluded.artifact_format, window_start = excluded.window_start, window_end = excluded.window_end, raw = excluded.raw,
      accepted = excluded.accepted, installed_segments = excluded.installed_segments, excluded = excluded.excluded,
      recorded_at = clock_timestamp()`,
});

/**
 * Builds the reply with the evidence as JSON (rules/transcripts#import-evidence). Instants have an explicit offset
 * (rules/http#datetimes-out).
 */
const evidenceJson = sql`json_build_object(
      'conversationId', c.id, 'status', s.status, 'failureReason', nullif(s.status, 'imported'),
      'contractImport', coalesce(e.contract_import, false),
      'artifact', case when e.artifact_sha256 is not null then
        json_build_object('sessionId', e.session_id, 'sha256', e.artifact_sha256, 'bytes', e.artifact_bytes) end,
      'window', case when e.window_start is not null then json_build_object(
        'conversationStartedAt', replace(iso_utc(e.window_start), 'Z', '+00:00'),
        'captureEndedAt', replace(iso_utc(e.window_end), 'Z', '+00:00')) end,
      'counts', case when e.raw is not null then json_build_object(
        'raw', e.raw, 'accepted', e.accepted, 'installedSegments', e.installed_segments, 'excludedByReason', e.excluded) end)`;

/** Returns the SQL that selects the evidence of the conversations of a subquery. */
const evidenceOf = (
  conversations: Sql,
): Sql => sql`${conversations} as c (id) left join import_evidence e on e.conversation_id = c.id
    cross join lateral (select coalesce(e.status, case when exists (select from transcript_rows r where r.conversation_id = c.id)
      then ${sql.literal(statusWithoutRecord(true))} else ${sql.literal(statusWithoutRecord(false))} end) as status) s`;

/** Returns the evidence of a conversation as the JSON text of the reply. */
export const getEvidence = statement.one({
  name: 'evidence.get',
  params: { conversationId: t.integer },
  row: { body: t.text },
  sql: ({ conversationId }) => sql`
    select ${evidenceJson}::text as body from ${evidenceOf(sql`(values (${conversationId}))`)}`,
});

/**
 * Returns evidence and session start of one conversation, or of all conversations whose import read an artifact, as the
 * JSON text of the reply.
 */
export const listEvidence = statement.one({
  name: 'evidence.list',
  params: { conversationId: t.integer.nullable, sha256: t.text.nullable },
  row: { body: t.text },
  sql: ({ conversationId, sha256 }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object(
      'evidence', ${evidenceJson}, 'session_started_at', iso_utc(e.session_started_at)) order by c.id), '[]'))::text as body
    from ${evidenceOf(sql`(
      select ${conversationId} where ${conversationId} is not null
      union (select conversation_id from import_evidence where artifact_sha256 = ${sha256} order by conversation_id limit 1000))`)}`,
});

/** Returns the format of the conversation's last artifact. */
export const findLatestFormat = statement.maybeOne({
  name: 'evidence.latest-format',
  row: { conversation_id: t.integer, format: t.text.as<ArtifactFormat>(), read_at: t.text },
  sql: () => sql`
    select conversation_id, artifact_format as format, iso_utc(recorded_at) as read_at from import_evidence
    where artifact_format is not null order by recorded_at desc limit 1`,
});
