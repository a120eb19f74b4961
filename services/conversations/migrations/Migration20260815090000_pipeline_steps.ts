import { OnlineMigration } from '#libs/orm/migrations';

/** Conversations in a seldom step are found by the step, from either side (P5). */
export class Migration20260815090000_pipeline_steps extends OnlineMigration {
  override up(): void {
    this.addSql('create index concurrently pipeline_entries__step_id__index on conversations.pipeline_entries (step_id, id)');
    this.addSql(`create index concurrently all_conversations__step_id__index on conversations.all_conversations (step_id)
      where step_id is not null and deleted_at is null`);
  }
}
