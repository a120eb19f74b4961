import { Migration } from '#libs/orm/migrations';

/** What was well signed when it came stays so while secrets are rotated (K8). Of what is there already the signature is checked again. */
export class Migration20260405100000_signed_receipts extends Migration {
  override up(): void {
    this.addSql(`alter table conversations.webhook_receipts add column was_signed boolean not null default false`);
  }
}
