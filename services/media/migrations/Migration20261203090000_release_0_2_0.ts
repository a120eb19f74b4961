import { auditTables } from '#libs/infrastructure/audit';
import { feedTables } from '#libs/infrastructure/feed';
import { idempotencyRecordsTable } from '#libs/infrastructure/idempotency';
import { failedJobs, sentRemoteJobs, jobAttempts, redactStoredErrors } from '#libs/infrastructure/jobs';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

/** Changes from release 0.1.0 to 0.2.0. */
export class Migration20261203090000_release_0_2_0 extends OnlineMigration {
  override up(): void {
    // Audit log
    for (const sql of auditTables('media')) this.addSql(sql);

    // When an imported recording begins: captions of one that was not trimmed are moved by it.
    this.addSql(`alter table media.recording_imports add column recording_started_at timestamptz`);
    this.addSql(
      `comment on column media.recording_imports.recording_started_at is 'as the provider says; null = unknown'`,
    );

    // Job attempts
    for (const sql of jobAttempts('media', 'concurrently')) this.addSql(sql);

    // Kept answers
    for (const sql of idempotencyRecordsTable('media')) this.addSql(sql);

    // Feed
    for (const sql of feedTables('media')) this.addSql(sql);

    // Captions on the video host: by which step, from which moment, and what was sent last.
    this.addSql(`
      alter table media.videohost_uploads
        add column step_id integer,
        add column video_started_at timestamptz,
        add column captions_id text,
        add column captions_sha256 text`);
    this.addSql(
      `comment on column media.videohost_uploads.step_id is 'step that published the video: its captions follow the configuration of that'`,
    );
    this.addSql(`comment on column media.videohost_uploads.video_started_at is 'null = with the window, or unknown'`);
    this.addSql(`comment on column media.videohost_uploads.captions_sha256 is 'of the captions that the host has'`);

    // Handed over jobs
    for (const sql of sentRemoteJobs('media')) this.addSql(sql);

    // Failed jobs
    for (const sql of failedJobs('media', 'concurrently')) this.addSql(sql);

    // What files and thumbnails were made from, so that a repetition makes none anew; null: made by an earlier release, or not at all.
    this.addSql(`alter table media.recording_imports add column trimmed_from text, add column pictures_from text`);
    this.addSql(`alter table media.videohost_uploads add column thumbnail_sha256 text`);

    // Job errors of earlier releases, without secrets.
    this.addWork((query) => redactStoredErrors('media', query));
  }
}
