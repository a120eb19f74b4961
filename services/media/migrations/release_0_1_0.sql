create table media.blobs (
  id integer generated always as identity,
  kind text not null,
  conversation_id integer,
  holon_id integer,
  object_key text not null,
  name text not null,
  content_type text not null,
  size_bytes bigint not null,
  sha256 text not null,
  source text not null,
  finalized boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  created_by_account_id integer,
  created_by_person_id integer,
  retired_at timestamptz,
  constraint blobs_pkey primary key (id),
  constraint blobs__object_key__key unique (object_key),
  constraint blobs__kind__check check (kind in ('audio', 'recording_full', 'recording_front_trimmed', 'thumbnail', 'logo')),
  constraint blobs__owner__check check (num_nonnulls(conversation_id, holon_id) = 1),
  constraint blobs__size_bytes__check check (size_bytes >= 0),
  constraint blobs__sha256__check check (sha256 ~ '^[0-9a-f]{64}$')
);
create unique index blobs__conversation_id__kind__current on media.blobs (conversation_id, kind)
    where retired_at is null and kind in ('audio', 'recording_full', 'recording_front_trimmed');
create unique index blobs__holon_id__logo__current on media.blobs (holon_id) where retired_at is null and kind = 'logo';
create index blobs__conversation_id__index on media.blobs (conversation_id);
create index blobs__object_key__bytewise on media.blobs (object_key collate "C");
comment on column media.blobs.finalized is 'of a front-trimmed recording: it gives way to the full one (D27)';
comment on column media.blobs.retired_at is 'since when nothing refers to the object; null = in use';

create table media.uploads (
  object_key text,
  started_at timestamptz not null default clock_timestamp(),
  alive_until timestamptz not null,
  swept boolean not null default false,
  constraint uploads_pkey primary key (object_key)
);
create index uploads__alive_until__index on media.uploads (alive_until);
create index uploads__object_key__bytewise on media.uploads (object_key collate "C");
comment on table media.uploads is 'objects being written; one without a sign of life is removed by the sweep';

create table media.deleted_conversations (
  conversation_id integer,
  deleted_at timestamptz not null default clock_timestamp(),
  restorable boolean not null default false,
  constraint deleted_conversations_pkey primary key (conversation_id)
);
comment on table media.deleted_conversations is 'so that an upload which finishes after the deletion stores nothing';
comment on column media.deleted_conversations.restorable is 'hidden, files and records are kept; false = gone for good';

create table media.recording_imports (
  conversation_id integer,
  recording_id text not null,
  object_key text not null,
  etag text,
  size_bytes bigint,
  sha256 text,
  worker_job_id uuid,
  worked_until timestamptz,
  begun_at timestamptz not null default clock_timestamp(),
  constraint recording_imports__pkey primary key (conversation_id),
  constraint recording_imports__stored__check check ((size_bytes is null) = (sha256 is null)),
  constraint recording_imports__worker__check check ((worker_job_id is null) = (worked_until is null))
);
comment on column media.recording_imports.etag is 'of the bytes under object_key: their rest is asked for with it';
comment on column media.recording_imports.sha256 is 'null until the whole recording is stored';

create table media.videohost_uploads (
  conversation_id integer not null,
  recording_sha256 text not null,
  session text,
  is_ending boolean not null default false,
  video jsonb,
  lost_by_job_id text,
  worker_job_id text,
  worked_until timestamptz,
  begun_at timestamptz not null default clock_timestamp(),
  constraint videohost_uploads__pkey primary key (conversation_id, recording_sha256),
  constraint videohost_uploads__worker__check check ((worker_job_id is null) = (worked_until is null))
);
comment on column media.videohost_uploads.session is 'address under which the upload goes on; a secret';
comment on column media.videohost_uploads.is_ending is 'the last bytes may have been sent: the video may be there';
comment on column media.videohost_uploads.lost_by_job_id is 'job that cannot tell whether its upload was finished; its redrive uploads anew';

create table media.tickets (
  ticket_sha256 bytea,
  request text not null,
  expires_at timestamptz not null,
  constraint tickets_pkey primary key (ticket_sha256)
);
create index tickets__expires_at__index on media.tickets (expires_at);
comment on table media.tickets is 'for one HTTP request each: method and path; gone once it is used';
