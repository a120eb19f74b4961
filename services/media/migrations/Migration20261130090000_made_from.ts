import { Migration } from '#libs/orm/migrations';

/** What files and thumbnails were made from, so that a repetition makes none anew; null: made by an earlier release, or not at all. */
export class Migration20261130090000_made_from extends Migration {
  override up(): void {
    this.addSql(`alter table media.recording_imports add column trimmed_from text, add column pictures_from text`);
    this.addSql(`alter table media.videohost_uploads add column thumbnail_sha256 text`);
  }
}
