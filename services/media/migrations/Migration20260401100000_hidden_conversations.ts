import { Migration } from '#libs/orm/migrations';

/** A conversation may be deleted and come back (D67): its files are only hidden until then. */
export class Migration20260401100000_hidden_conversations extends Migration {
  override up(): void {
    this.addSql('alter table media.deleted_conversations add column restorable boolean not null default false');
    this.addSql(`comment on column media.deleted_conversations.restorable is 'hidden, files and records are kept; false = gone for good'`);
  }
}
