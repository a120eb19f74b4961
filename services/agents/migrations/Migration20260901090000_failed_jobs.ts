import { failedJobs } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

export class Migration20260901090000_failed_jobs extends Migration {
  override up(): void {
    for (const sql of failedJobs('agents')) this.addSql(sql);
  }
}
