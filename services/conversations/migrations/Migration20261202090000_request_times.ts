import { Migration } from '#libs/orm/migrations';

/** When each attendee asked for another time (D79, D102); of requests of the previous release `created_at` counts. */
export class Migration20261202090000_request_times extends Migration {
  override up(): void {
    this.addSql(`alter table conversations.booking_links add column requested jsonb not null default '{}'`);
  }
}
