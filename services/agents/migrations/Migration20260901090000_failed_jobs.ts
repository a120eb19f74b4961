import { failedJobs } from '#libs/jobs';
import { OnlineMigration } from '#libs/orm/migrations';

export class Migration20260901090000_failed_jobs extends OnlineMigration {
  override up(): void {
    for (const sql of failedJobs('agents', 'concurrently')) this.addSql(sql);
  }
}
