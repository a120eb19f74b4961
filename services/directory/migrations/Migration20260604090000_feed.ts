import { feedTables } from '#libs/feed';
import { Migration } from '#libs/orm';

export class Migration20260604090000_feed extends Migration {
  override up(): void {
    for (const sql of feedTables('directory')) this.addSql(sql);
  }
}
