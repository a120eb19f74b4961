import { Migration } from '#libs/orm/migrations';

/** What happens to a subject again and again does not write it each time; where the order of last events is needed, it goes by type. */
export class Migration20260801090000_seldom_touched extends Migration {
  override up(): void {
    this.addSql('drop index events.subjects__last_position__index');
    this.addSql(`comment on column events.subjects.last_position is 'the last event is not behind it'`);
  }
}
