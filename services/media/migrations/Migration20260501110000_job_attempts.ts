import { jobAttempts } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

export class Migration20260501110000_job_attempts extends Migration {
  override up(): void {
    for (const sql of jobAttempts('media')) this.addSql(sql);
  }
}
