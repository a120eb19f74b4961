import { OnlineMigration } from '#libs/orm/migrations';

/** Pipeline entries are listed by the time of the entry, also those of one step (D98). */
export class Migration20261201091000_pipelines_by_time extends OnlineMigration {
  override up(): void {
    this.addSql(
      'create index concurrently pipeline_entries__step_id_entered_at__index on conversations.pipeline_entries (step_id, entered_at, id)',
    );
    this.addSql('drop index concurrently conversations.pipeline_entries__step_id__index');
  }
}
