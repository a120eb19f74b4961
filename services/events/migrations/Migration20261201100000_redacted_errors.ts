import { redactStoredErrors } from '#libs/jobs';
import { OnlineMigration } from '#libs/orm/migrations';

/** Job errors of earlier releases, without secrets. */
export class Migration20261201100000_redacted_errors extends OnlineMigration {
  override up(): void {
    this.addWork((query) => redactStoredErrors('events', query));
  }
}
