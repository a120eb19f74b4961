import { historyTable } from '#libs/product/history';
import { idempotencyRecordsTable } from '#libs/infrastructure/idempotency';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

/** Agents are written over HTTP: history, idempotency records, and deleted agents that their threads still name (W6). */
export class Migration20261205093000_agent_setup extends OnlineMigration {
  override up(): void {
    for (const sql of historyTable('agents')) this.addSql(sql);
    for (const sql of idempotencyRecordsTable('agents')) this.addSql(sql);
    this.addSql(`alter table agents.agents add column deleted_at timestamptz`);
    this.addSql(
      `comment on column agents.agents.deleted_at is 'a deleted agent: its threads remain, its slug is free for another one'`,
    );
    this.addSql(
      `create unique index concurrently agents__slug__not_deleted__key on agents.agents (slug) where deleted_at is null`,
    );
    this.addSql(`alter table agents.agents drop constraint agents__slug__key`);
    this.addSql(`create index concurrently agents__slug__index on agents.agents (slug)`);
  }
}
