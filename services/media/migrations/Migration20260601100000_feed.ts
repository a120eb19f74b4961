import { feedTables } from '#libs/feed';
import { Migration } from '#libs/orm';

export class Migration20260601100000_feed extends Migration {
  override up(): void {
    for (const sql of feedTables('media')) this.addSql(sql);
  }
}
