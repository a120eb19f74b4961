import { feedTables } from '#libs/feed';
import { Migration } from '#libs/orm/migrations';

export class Migration20260601100000_feed extends Migration {
  override up(): void {
    for (const sql of feedTables('conversations')) this.addSql(sql);
  }
}
