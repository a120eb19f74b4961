import { Migration } from '#libs/orm/migrations';

/** Of what was rejected or ignored a receipt keeps no body; what is old is found by its time (D68). */
export class Migration20260402110000_receipt_bodies extends Migration {
  override up(): void {
    const passing = String.raw`(outcome in ('ignored', 'agent_not_found') or outcome like 'rejected\_%')`;
    this.addSql(`alter table agents.webhook_receipts add column body_digest text, add column body_size integer`);
    this.addSql(
      `comment on column agents.webhook_receipts.body_digest is 'SHA-256 of the body as it came, in hex; null when it was not read'`,
    );
    this.addSql(
      `update agents.webhook_receipts set body = null, body_digest = encode(sha256(body), 'hex'), body_size = length(body)
       where body is not null and ${passing}`,
    );
    this.addSql(
      `create index webhook_receipts__bodies__index on agents.webhook_receipts (received_at) where body is not null or reply_html is not null`,
    );
    this.addSql(`create index webhook_receipts__passing__index on agents.webhook_receipts (received_at) where ${passing}`);
  }
}
