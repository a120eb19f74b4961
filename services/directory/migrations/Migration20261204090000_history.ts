import { historyTable } from '#libs/product/history';
import { Migration } from '#libs/infrastructure/orm/migrations';

/** History of objects (W10). */
export class Migration20261204090000_history extends Migration {
  override up(): void {
    for (const sql of historyTable('directory')) this.addSql(sql);
  }
}
