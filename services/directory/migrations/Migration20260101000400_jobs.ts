import { jobTables } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

/** Jobs that the directory works, and the outbox of what it tells others. */
export class Migration20260101000400_jobs extends Migration {
  override up(): void {
    this.addSql(jobTables('directory'));
  }
}
