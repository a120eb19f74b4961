create table transcripts.transcript_rows (
  conversation_id integer not null,
  start_us bigint not null,
  position integer not null,
  end_us bigint not null,
  person_id integer not null,
  text text not null,
  constraint transcript_rows__pkey primary key (conversation_id, start_us, "position"),
  constraint transcript_rows__person_id__check check (person_id <> 0),
  constraint transcript_rows__end_us__check check (end_us >= start_us)
);
create index transcript_rows__conversation_id_person_id__index on transcripts.transcript_rows (conversation_id, person_id);

create table transcripts.speakers (
  conversation_id integer not null,
  speaker_key text not null,
  number integer,
  person_id integer,
  display_name text,
  constraint speakers__pkey primary key (conversation_id, speaker_key),
  constraint speakers__conversation_id_number__unique unique (conversation_id, number),
  constraint speakers__number__check check (number > 0),
  constraint speakers__person_id__check check (person_id > 0),
  constraint speakers__identity__check check (number is not null or person_id is not null)
);
create index speakers__person_id__index on transcripts.speakers (person_id, conversation_id)
    where person_id is not null;

create table transcripts.import_evidence (
  conversation_id integer,
  status text not null,
  contract_import boolean not null,
  session_id text,
  session_started_at timestamptz,
  artifact_sha256 text,
  artifact_bytes bigint,
  window_start timestamptz,
  window_end timestamptz,
  raw integer,
  accepted integer,
  installed_segments integer,
  excluded jsonb,
  recorded_at timestamptz not null default clock_timestamp(),
  constraint import_evidence_pkey primary key (conversation_id),
  constraint import_evidence__status__check check (status in ('imported', 'install_refused_or_incomplete', 'transcript_window_empty', 'transcript_window_missing', 'invalid_transcript_window', 'legacy_unbounded')),
  constraint import_evidence__artifact_sha256__check check (artifact_sha256 ~ '^[0-9a-f]{64}$'),
  constraint import_evidence__legacy__check check (not (status = 'legacy_unbounded' and contract_import)),
  constraint import_evidence__imported__check check (status <> 'imported' or (contract_import and artifact_sha256 is not null and installed_segments = accepted and accepted > 0)),
  constraint import_evidence__window__check check (window_end > window_start),
  constraint import_evidence__counts__check check (num_nulls(session_id, session_started_at, artifact_sha256, artifact_bytes, window_start, window_end, raw, accepted, excluded) in (0, 9)),
  constraint import_evidence__sum__check check (raw = (((((((accepted + ((excluded ->> 'before_window_start'))::integer) + ((excluded ->> 'after_window_end'))::integer) + ((excluded ->> 'crosses_window_start'))::integer) + ((excluded ->> 'crosses_window_end'))::integer) + ((excluded ->> 'transcript_timestamp_ambiguous'))::integer) + ((excluded ->> 'transcript_timestamp_malformed'))::integer) + ((excluded ->> 'empty_sentence'))::integer))
);
create index import_evidence__artifact_sha256__index on transcripts.import_evidence (artifact_sha256);

create table transcripts.forgotten_conversations (
  conversation_id integer,
  forgotten_at timestamptz not null default clock_timestamp(),
  constraint forgotten_conversations_pkey primary key (conversation_id)
);

create table transcripts.legacy_transcripts (
  conversation_id integer,
  sha256 text not null,
  installed_at timestamptz not null default clock_timestamp(),
  constraint legacy_transcripts__pkey primary key (conversation_id)
);
comment on column transcripts.legacy_transcripts.sha256 is 'of the rows as they were given, resolved speakers included';
