import { idempotencyRecordsTable } from '#libs/idempotency';
import { Migration } from '#libs/orm/migrations';

export class Migration20260601090000_kept_answers extends Migration {
  override up(): void {
    for (const sql of idempotencyRecordsTable('media')) this.addSql(sql);
  }
}
