import { OnlineMigration } from '#libs/orm/migrations';

/** Receipts of one booking are worked in the order in which they were received (D80): those that wait are found by what names it. */
export class Migration20261130100000_pending_receipts extends OnlineMigration {
  override up(): void {
    this
      .addSql(`create index concurrently webhook_receipts__pending_identifiers__index on conversations.webhook_receipts using gin (identifiers)
      with (fastupdate = off) where outcome = 'pending'`);
  }
}
