import { Migration } from '#libs/orm/migrations';

/** Endpoints are called by what they want; who wants everything is among those of `*`. */
export class Migration20260727090000_wanted_types extends Migration {
  override up(): void {
    this.addSql(`create index webhook_endpoints__wanted__index on events.webhook_endpoints using gin ((coalesce(types, array['*'])))
      where deleted_at is null and disabled_at is null`);
  }
}
