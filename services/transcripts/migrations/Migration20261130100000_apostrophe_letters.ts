import { OnlineMigration } from '#libs/orm/migrations';

/** Apostrophes that Unicode counts among the letters end a word like all others (D87): transcripts that have one are indexed again. */
export class Migration20261130100000_apostrophe_letters extends OnlineMigration {
  override up(): void {
    const has = ['ʹ', 'ʻ', 'ʼ', 'ŉ'].map((letter) => `r.text like '%${letter}%'`).join(' or ');
    this.addBackfill({
      table: 'transcripts.search_conversations',
      key: 'conversation_id',
      sql: `delete from transcripts.search_conversations s where s.conversation_id > $1 and s.conversation_id <= $2
        and exists (select from transcripts.transcript_rows r where r.conversation_id = s.conversation_id and (${has}))`,
    });
  }
}
