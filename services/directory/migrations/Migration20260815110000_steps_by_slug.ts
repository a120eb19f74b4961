import { OnlineMigration } from '#libs/orm/migrations';

/** Operators name a step by its slug alone, whatever its journey (P5). */
export class Migration20260815110000_steps_by_slug extends OnlineMigration {
  override up(): void {
    this.addSql('create index concurrently journey_steps__slug__index on directory.journey_steps (slug)');
  }
}
