import { Migration } from '#libs/orm/migrations';

/** What came with an update, but for its secret (P4). */
export class Migration20260820090000_receipt_headers extends Migration {
  override up(): void {
    this.addSql(`alter table agents.webhook_receipts add column headers jsonb not null default '{}'`);
  }
}
