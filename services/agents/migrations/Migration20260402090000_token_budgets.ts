import { Migration } from '#libs/orm/migrations';

/** Tokens of the language model that each agent has used on its latest day, those of calls under way included (D71). */
export class Migration20260402090000_token_budgets extends Migration {
  override up(): void {
    this.addSql(`
      create table agents.token_budgets (
        agent_id integer primary key references agents.agents (id) on delete cascade,
        day date not null,
        tokens bigint not null
      )`);
    this.addSql(
      `comment on table agents.token_budgets is 'the latest day (UTC) alone; a call adds an estimate before it and its difference after it'`,
    );
  }
}
