import { Migration } from '#libs/orm/migrations';

/** When an imported recording begins: captions of one that was not trimmed are moved by it. */
export class Migration20260501090000_recording_start extends Migration {
  override up(): void {
    this.addSql(`alter table media.recording_imports add column recording_started_at timestamptz`);
    this.addSql(`comment on column media.recording_imports.recording_started_at is 'as the provider says; null = unknown'`);
  }
}
