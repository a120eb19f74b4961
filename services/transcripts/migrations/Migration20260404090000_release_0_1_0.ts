import { jobTables } from '#libs/infrastructure/jobs';
import { Migration, readSqlFile } from '#libs/infrastructure/orm/migrations';

/** The schema of release 0.1.0. */
export class Migration20260404090000_release_0_1_0 extends Migration {
  override up(): void {
    this.addSql(jobTables('transcripts'));
    for (const sql of readSqlFile('release_0_1_0.sql', import.meta)) this.addSql(sql);
  }
}
