import { Migration } from '#libs/orm/migrations';

/** What both people of a merge were known by before it: a database of that time knows them so (rules/operations#after-a-restore). */
export class Migration20261128100000_merged_digests extends Migration {
  override up(): void {
    this.addSql(`alter table directory.merged_people add column were jsonb not null default '[]'`);
    this.addSql(`comment on column directory.merged_people.were is 'ids and digests of both, as people.identify tells them'`);
  }
}
