import { historyTable } from '#libs/history';
import { Migration } from '#libs/orm/migrations';

/** History of objects (W10). */
export class Migration20261204090000_history extends Migration {
  override up(): void {
    for (const sql of historyTable('directory')) this.addSql(sql);
  }
}
