import { Migration } from '#libs/orm/migrations';

/** Search oldest first reads an index in its order, and so does browse of one event's journey. */
export class Migration20260201000000_search extends Migration {
  override up(): void {
    this.addSql('create index conversations__start_at__ascending on conversations.conversations (start_at, id)');
    this.addSql(`create index conversations__event_id_journey_id__index
      on conversations.conversations (event_id, journey_id, start_at desc nulls last, id)`);
  }
}
