import { Migration } from '#libs/orm/migrations';

/** Apostrophes that Unicode counts among the letters end a word like all others (D87): transcripts that have one are indexed again. */
export class Migration20261130100000_apostrophe_letters extends Migration {
  override up(): void {
    const has = ['ʹ', 'ʻ', 'ʼ', 'ŉ'].map((letter) => `text like '%${letter}%'`).join(' or ');
    this.addSql(`delete from transcripts.search_conversations
      where conversation_id in (select conversation_id from transcripts.transcript_rows where ${has})`);
  }
}
