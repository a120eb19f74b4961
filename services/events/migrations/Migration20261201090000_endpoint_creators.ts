import { Migration } from '#libs/orm/migrations';

/** The service key that created an endpoint; the revocation of the key lists its endpoints. */
export class Migration20261201090000_endpoint_creators extends Migration {
  override up(): void {
    this.addSql('alter table events.webhook_endpoints add column created_by_key_id text');
    this.addSql(
      `comment on column events.webhook_endpoints.created_by_key_id is 'null = created without a service key, or before this was recorded'`,
    );
  }
}
