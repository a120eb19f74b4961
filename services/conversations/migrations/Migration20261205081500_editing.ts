import { idempotencyRecordsTable } from '#libs/infrastructure/idempotency';
import { Migration } from '#libs/infrastructure/orm/migrations';

/** Responses under an `Idempotency-Key` (W8, I1). */
export class Migration20261205081500_editing extends Migration {
  override up(): void {
    for (const sql of idempotencyRecordsTable('conversations')) this.addSql(sql);
  }
}
