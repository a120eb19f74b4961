import { Migration } from '#libs/orm/migrations';

/** Keys of conversations that came by bulk import, so that the same file finds them again. */
export class Migration20260201090000_import_keys extends Migration {
  override up(): void {
    this.addSql(`
      create table conversations.import_keys (
        key text constraint import_keys__pkey primary key,
        conversation_id integer not null references conversations.conversations on delete cascade,
        constraint import_keys__conversation_id__unique unique (conversation_id)
      )`);
    this.addSql(
      `comment on table conversations.import_keys is 'keys of the workspace file by conversation; a key goes with its conversation'`,
    );
  }
}
