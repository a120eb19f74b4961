import { Migration } from '#libs/infrastructure/orm/migrations';

/** Counts requests for an erasure, so that an attempt of an earlier one cannot mark a service as failed (W20). */
export class Migration20261205120000_erasure_rounds extends Migration {
  override up(): void {
    this.addSql('alter table directory.person_erasures add column round integer not null default 1');
  }
}
