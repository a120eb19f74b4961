import { jobAttempts } from '#libs/jobs';
import { OnlineMigration } from '#libs/orm/migrations';

export class Migration20260501110000_job_attempts extends OnlineMigration {
  override up(): void {
    for (const sql of jobAttempts('agents', 'concurrently')) this.addSql(sql);
  }
}
