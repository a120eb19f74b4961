import { jobTables } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

/** Blobs of every kind that the platform stores, the uploads in progress, and the conversations that are gone. */
export class Migration20260105090000_media extends Migration {
  override up(): void {
    this.addSql(`
      create table media.blobs (
        id integer generated always as identity primary key,
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
        constraint blobs__kind__check check (kind in ('audio', 'recording_full', 'recording_front_trimmed', 'thumbnail', 'logo')),
        constraint blobs__owner__check check (num_nonnulls(conversation_id, holon_id) = 1),
        constraint blobs__size_bytes__check check (size_bytes >= 0),
        constraint blobs__sha256__check check (sha256 ~ '^[0-9a-f]{64}$'),
        constraint blobs__object_key__key unique (object_key)
      )`);
    this.addSql(`comment on column media.blobs.retired_at is 'since when nothing refers to the object; null = in use'`);
    this.addSql(`comment on column media.blobs.finalized is 'of a front-trimmed recording: it gives way to the full one (D27)'`);
    this.addSql(`
      create unique index blobs__conversation_id__kind__current on media.blobs (conversation_id, kind)
        where retired_at is null and kind in ('audio', 'recording_full', 'recording_front_trimmed')`);
    this.addSql(`create unique index blobs__holon_id__logo__current on media.blobs (holon_id) where retired_at is null and kind = 'logo'`);
    this.addSql(`create index blobs__conversation_id__index on media.blobs (conversation_id)`);
    this.addSql(`
      create table media.uploads (
        object_key text primary key,
        started_at timestamptz not null default clock_timestamp(),
        alive_until timestamptz not null,
        swept boolean not null default false
      )`);
    this.addSql(`comment on table media.uploads is 'objects being written; one without a sign of life is removed by the sweep'`);
    this.addSql(`create index uploads__alive_until__index on media.uploads (alive_until)`);
    this.addSql(`
      create table media.deleted_conversations (
        conversation_id integer primary key,
        deleted_at timestamptz not null default clock_timestamp()
      )`);
    this.addSql(`comment on table media.deleted_conversations is 'so that an upload which finishes after the deletion stores nothing'`);
    this.addSql(jobTables('media'));
  }
}
