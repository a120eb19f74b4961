import { OnlineMigration } from '#libs/orm/migrations';

/** A chat that is forgotten leaves its receipts, which are found by it. */
export class Migration20261129100000_chats_that_go extends OnlineMigration {
  override up(): void {
    this.addSql(`create index concurrently webhook_receipts__of_chat__index on agents.webhook_receipts (chat) where chat is not null`);
  }
}
