import { Migration } from '#libs/orm/migrations';

/** Uploads to the video host: one per conversation and recording, remembered from one attempt to the next. */
export class Migration20260305090000_videohost_uploads extends Migration {
  override up(): void {
    this.addSql(`
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
      )`);
    this.addSql(`comment on column media.videohost_uploads.session is 'address under which the upload goes on; a secret'`);
    this.addSql(`comment on column media.videohost_uploads.is_ending is 'the last bytes may have been sent: the video may be there'`);
    this.addSql(
      `comment on column media.videohost_uploads.lost_by_job_id is 'job that cannot tell whether its upload was finished; its redrive uploads anew'`,
    );
  }
}
