import { Migration } from '#libs/orm/migrations';

/** Imports of recordings that outlive an attempt: what has been downloaded so far, and who works at it. */
export class Migration20260301090000_recording_imports extends Migration {
  override up(): void {
    this.addSql(`
      create table media.recording_imports (
        conversation_id integer constraint recording_imports__pkey primary key,
        recording_id text not null,
        object_key text not null,
        etag text,
        size_bytes bigint,
        sha256 text,
        worker_job_id uuid,
        worked_until timestamptz,
        begun_at timestamptz not null default clock_timestamp(),
        constraint recording_imports__stored__check check ((size_bytes is null) = (sha256 is null)),
        constraint recording_imports__worker__check check ((worker_job_id is null) = (worked_until is null))
      )`);
    this.addSql(`comment on column media.recording_imports.etag is 'of the bytes under object_key: their rest is asked for with it'`);
    this.addSql(`comment on column media.recording_imports.sha256 is 'null until the whole recording is stored'`);
    this.addSql(`create index blobs__object_key__bytewise on media.blobs (object_key collate "C")`);
    this.addSql(`create index uploads__object_key__bytewise on media.uploads (object_key collate "C")`);
  }
}
