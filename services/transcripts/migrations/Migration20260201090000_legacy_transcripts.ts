import { Migration } from '#libs/orm/migrations';

/** Digests of the rows that came by bulk import, so that the same rows are not written twice. */
export class Migration20260201090000_legacy_transcripts extends Migration {
  override up(): void {
    this.addSql(`
      create table transcripts.legacy_transcripts (
        conversation_id integer constraint legacy_transcripts__pkey primary key,
        sha256 text not null,
        installed_at timestamptz not null default clock_timestamp()
      )`);
    this.addSql(`comment on column transcripts.legacy_transcripts.sha256 is 'of the rows as they were given, resolved speakers included'`);
  }
}
