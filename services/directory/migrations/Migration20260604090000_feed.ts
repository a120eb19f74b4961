import { feedTables } from '#libs/feed';
import { Migration } from '#libs/orm/migrations';

export class Migration20260604090000_feed extends Migration {
  override up(): void {
    for (const sql of feedTables('directory')) this.addSql(sql);
  }
}
