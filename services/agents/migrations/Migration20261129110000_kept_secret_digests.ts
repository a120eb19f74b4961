import { Migration } from '#libs/orm/migrations';

/** By what a kept update of an unknown agent is judged once the agent is there (P8). */
export class Migration20261129110000_kept_secret_digests extends Migration {
  override up(): void {
    this.addSql('alter table agents.webhook_receipts add column secret_digest text');
  }
}
