import { Migration } from '#libs/orm/migrations';

/** Accounts that an operator unlinked: none of them is linked by its email again (rules/access#identity-provider; S2). */
export class Migration20260815090000_unlinked_accounts extends Migration {
  override up(): void {
    this.addSql('alter table directory.accounts add column unlinked_at timestamptz');
    this.addSql(
      "comment on column directory.accounts.unlinked_at is 'when an operator unlinked an identity; null again when one is linked by an operator'",
    );
  }
}
