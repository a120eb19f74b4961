import { Migration } from '#libs/infrastructure/orm/migrations';

/** Access to the events of deleted private holons (W21). */
export class Migration20261205101000_deleted_private_holons extends Migration {
  override up(): void {
    this.addSql(`create table directory.deleted_private_holons (
      holon_id integer not null,
      account_ids integer[] not null,
      constraint deleted_private_holons__holon_id__primary primary key (holon_id)
    )`);
    this.addSql(
      `comment on column directory.deleted_private_holons.account_ids is 'accounts with team authority over the holon when it was deleted'`,
    );
  }
}
