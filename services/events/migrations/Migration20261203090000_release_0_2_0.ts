import { auditTables } from '#libs/infrastructure/audit';
import { feedTables } from '#libs/infrastructure/feed';
import { idempotencyRecordsTable } from '#libs/infrastructure/idempotency';
import { failedJobs, sentRemoteJobs, jobAttempts, jobTables } from '#libs/infrastructure/jobs';
import { Migration, readSqlFile } from '#libs/infrastructure/orm/migrations';

/** The service is new in release 0.2.0. */
export class Migration20261203090000_release_0_2_0 extends Migration {
  override up(): void {
    const jobs = [jobTables('events'), ...jobAttempts('events'), ...sentRemoteJobs('events'), ...failedJobs('events')];
    for (const sql of [
      ...jobs,
      ...auditTables('events'),
      ...feedTables('events'),
      ...idempotencyRecordsTable('events'),
    ])
      this.addSql(sql);
    for (const sql of readSqlFile('release_0_2_0.sql', import.meta)) this.addSql(sql);
  }
}
