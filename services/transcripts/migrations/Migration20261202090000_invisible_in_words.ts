import { OnlineMigration } from '#libs/orm/migrations';

const signs = String.raw`\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff`;

/** Invisible characters within a word no longer split it (D87): transcripts that contain one are indexed again. */
export class Migration20261202090000_invisible_in_words extends OnlineMigration {
  override up(): void {
    this.addBackfill({
      table: 'transcripts.search_conversations',
      key: 'conversation_id',
      sql: `delete from transcripts.search_conversations s where s.conversation_id > $1 and s.conversation_id <= $2
        and exists (select from transcripts.transcript_rows r where r.conversation_id = s.conversation_id and r.text ~ '[${signs}]')`,
    });
  }
}
