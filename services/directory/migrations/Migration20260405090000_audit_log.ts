import { auditTables } from '#libs/audit';
import { Migration } from '#libs/orm/migrations';

export class Migration20260405090000_audit_log extends Migration {
  override up(): void {
    for (const sql of auditTables('directory')) this.addSql(sql);
  }
}
