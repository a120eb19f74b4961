import { jobTables } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

/**
 * Rows in the order in which they are read, speakers, and one line of evidence per conversation. The checks hold what the
 * rules promise of the evidence, whatever the code does.
 */
export class Migration20260101000000_foundation extends Migration {
  override up(): void {
    for (const sql of [...tables, jobTables('transcripts')]) this.addSql(sql);
  }
}

const tables = [
  `create table transcripts.transcript_rows (
    conversation_id integer not null,
    start_us bigint not null,
    position integer not null,
    end_us bigint not null,
    person_id integer not null constraint transcript_rows__person_id__check check (person_id <> 0),
    text text not null,
    constraint transcript_rows__pkey primary key (conversation_id, start_us, position),
    constraint transcript_rows__end_us__check check (end_us >= start_us)
  )`,
  `create index transcript_rows__conversation_id_person_id__index on transcripts.transcript_rows (conversation_id, person_id)`,
  `create table transcripts.speakers (
    conversation_id integer not null,
    speaker_key text not null,
    number integer constraint speakers__number__check check (number > 0),
    person_id integer constraint speakers__person_id__check check (person_id > 0),
    display_name text,
    constraint speakers__pkey primary key (conversation_id, speaker_key),
    constraint speakers__conversation_id_number__unique unique (conversation_id, number),
    constraint speakers__identity__check check (number is not null or person_id is not null)
  )`,
  `create table transcripts.import_evidence (
    conversation_id integer primary key,
    status text not null constraint import_evidence__status__check check (status in ('imported', 'install_refused_or_incomplete',
      'transcript_window_empty', 'transcript_window_missing', 'invalid_transcript_window', 'legacy_unbounded')),
    contract_import boolean not null,
    session_id text,
    session_started_at timestamptz,
    artifact_sha256 text constraint import_evidence__artifact_sha256__check check (artifact_sha256 ~ '^[0-9a-f]{64}$'),
    artifact_bytes bigint,
    window_start timestamptz,
    window_end timestamptz,
    raw integer,
    accepted integer,
    installed_segments integer,
    excluded jsonb,
    recorded_at timestamptz not null default clock_timestamp(),
    constraint import_evidence__legacy__check check (not (status = 'legacy_unbounded' and contract_import)),
    constraint import_evidence__imported__check check (status <> 'imported'
      or (contract_import and artifact_sha256 is not null and installed_segments = accepted and accepted > 0)),
    constraint import_evidence__window__check check (window_end > window_start),
    constraint import_evidence__counts__check check (num_nulls(session_id, session_started_at, artifact_sha256, artifact_bytes,
      window_start, window_end, raw, accepted, excluded) in (0, 9)),
    constraint import_evidence__sum__check check (raw = accepted + (excluded->>'before_window_start')::integer
      + (excluded->>'after_window_end')::integer + (excluded->>'crosses_window_start')::integer
      + (excluded->>'crosses_window_end')::integer + (excluded->>'transcript_timestamp_ambiguous')::integer
      + (excluded->>'transcript_timestamp_malformed')::integer + (excluded->>'empty_sentence')::integer)
  )`,
  `create index import_evidence__artifact_sha256__index on transcripts.import_evidence (artifact_sha256)`,
  `create table transcripts.forgotten_conversations (
    conversation_id integer primary key,
    forgotten_at timestamptz not null default clock_timestamp()
  )`,
];
