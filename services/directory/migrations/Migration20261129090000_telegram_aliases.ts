import { Migration } from '#libs/orm/migrations';

/** By which Telegram user somebody was known who is somebody else now (I5): their chats are handed out and removed too. */
export class Migration20261129090000_telegram_aliases extends Migration {
  override up(): void {
    this.addSql(`alter table directory.person_aliases drop constraint person_aliases__kind__known`);
    this.addSql(
      `alter table directory.person_aliases add constraint person_aliases__kind__known check (kind in ('email', 'key', 'origin', 'telegram'))`,
    );
  }
}
