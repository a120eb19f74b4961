import { Migration } from '#libs/orm/migrations';

/** So that subjects of holons that somebody does not see are passed over together, however many they are (V4). */
export class Migration20260902090000_subjects_by_holons extends Migration {
  override up(): void {
    this.addSql('create index subjects__type_holons__index on events.subjects (type, holons, last_position)');
  }
}
