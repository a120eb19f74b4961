import { OnlineMigration } from '#libs/orm/migrations';
import { receiptSearchIndexes } from '#libs/webhooks';

export class Migration20260501120000_receipt_search extends OnlineMigration {
  override up(): void {
    for (const sql of receiptSearchIndexes('agents', false)) this.addSql(sql);
  }
}
