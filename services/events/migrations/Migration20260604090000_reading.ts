import { Migration } from '#libs/orm/migrations';

/** So that a page takes as long however much there is that somebody does not see, or did not ask for (V4). */
export class Migration20260604090000_reading extends Migration {
  override up(): void {
    this.addSql('create index feed__type__index on events.feed (type, position)');
    this.addSql('create index subjects__type__order on events.subjects (type, last_position)');
    this.addSql(`create index subjects__people__index on events.subjects using gin (people) where type = 'conversation'`);
    this.addSql(`create index subjects__holons__index on events.subjects using gin (holons) where type = 'conversation'`);
  }
}
