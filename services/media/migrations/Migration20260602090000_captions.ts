import { Migration } from '#libs/orm/migrations';

/** Captions on the video host: by which step, from which moment, and what was sent last. */
export class Migration20260602090000_captions extends Migration {
  override up(): void {
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
  }
}
