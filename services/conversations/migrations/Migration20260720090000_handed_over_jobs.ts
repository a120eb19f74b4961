import { handedOverJobs } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

export class Migration20260720090000_handed_over_jobs extends Migration {
  override up(): void {
    for (const sql of handedOverJobs('conversations')) this.addSql(sql);
  }
}
