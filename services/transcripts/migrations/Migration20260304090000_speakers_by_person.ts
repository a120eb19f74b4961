import { Migration } from '#libs/orm/migrations';

/** Transcripts in which a person speaks, for the export and erasure of one person. */
export class Migration20260304090000_speakers_by_person extends Migration {
  override up(): void {
    this.addSql(`create index speakers__person_id__index on transcripts.speakers (person_id, conversation_id) where person_id is not null`);
  }
}
