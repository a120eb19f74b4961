import { Migration } from '#libs/orm/migrations';

/** Sessions of the console, which no API route takes (rules/console#session; S3). Those of before are sessions of the API: people sign in once more. */
export class Migration20260815100000_console_sessions extends Migration {
  override up(): void {
    this.addSql('alter table directory.login_sessions add column for_console boolean not null default false');
  }
}
