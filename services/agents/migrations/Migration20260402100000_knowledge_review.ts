import { Migration } from '#libs/orm/migrations';

/** Knowledge of agents waits for an operator (D70). */
export class Migration20260402100000_knowledge_review extends Migration {
  override up(): void {
    this.addSql(`alter table agents.memory_facts add column approved_at timestamptz`);
    this.addSql(
      `comment on column agents.memory_facts.approved_at is 'knowledge only: when an operator let the agent say it; null = nobody has'`,
    );
  }
}
