import { OnlineMigration } from '#libs/orm/migrations';

/** What somebody wrote as an operator, for the export of one person. */
export class Migration20261129090000_words_of_operators extends OnlineMigration {
  override up(): void {
    this.addSql(`create index concurrently messages__account_id__index on agents.messages (account_id) where account_id is not null`);
  }
}
