import { cancelledJobs } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

export class Migration20260404090000_cancelled_jobs extends Migration {
  override up(): void {
    for (const sql of cancelledJobs('media')) this.addSql(sql);
  }
}
