import { redactStoredErrors } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

/** Job errors of earlier releases, without secrets. */
export class Migration20261201100000_redacted_errors extends Migration {
  override up(): Promise<void> {
    return redactStoredErrors('agents', (statement, params) => this.execute(statement, params));
  }
}
