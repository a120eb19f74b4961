import { Migration } from '#libs/orm/migrations';

/** Whether language models leave thoughts in their answers that no marker opens (D84). */
export class Migration20261202090000_thinking_habits extends Migration {
  override up(): void {
    this.addSql(`
      create table agents.thinking_habits (
        model text primary key,
        plain_answers integer not null
      )`);
    this.addSql(
      `comment on table agents.thinking_habits is 'latest whole answers in a row without unopened thoughts, of a model at an address'`,
    );
  }
}
