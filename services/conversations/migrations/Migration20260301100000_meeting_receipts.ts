import { Migration } from '#libs/orm/migrations';

/** Receipts of the meeting provider's webhooks stand beside those of bookings. */
export class Migration20260301100000_meeting_receipts extends Migration {
  override up(): void {
    this.addSql(`alter table conversations.webhook_receipts add column source text not null default 'booking'`);
    this.addSql(`comment on column conversations.webhook_receipts.source is 'booking, or meeting: then person_id is empty'`);
    this.addSql(`create index pipeline_entries__entered_at__index on conversations.pipeline_entries (entered_at)`);
  }
}
