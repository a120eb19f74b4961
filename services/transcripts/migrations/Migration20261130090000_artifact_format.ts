import { Migration } from '#libs/orm/migrations';

/** Format of the artifact that an import read; null for audio, and for imports of earlier releases. */
export class Migration20261130090000_artifact_format extends Migration {
  override up(): void {
    this.addSql(`alter table transcripts.import_evidence add column artifact_format text`);
  }
}
