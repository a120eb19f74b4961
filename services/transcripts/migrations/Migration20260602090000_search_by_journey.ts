import { Migration } from '#libs/orm/migrations';

/** What was said in conversations of a journey is found without reading the facts of all of them (T3). */
export class Migration20260602090000_search_by_journey extends Migration {
  override up(): void {
    this.addSql(`create index search_conversations__journey_id__index on transcripts.search_conversations (journey_id)`);
  }
}
