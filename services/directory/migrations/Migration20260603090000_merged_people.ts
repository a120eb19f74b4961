import { Migration } from '#libs/orm/migrations';

/** Who is somebody else now, and what still means who went: emails, keys of the workspace file, attendees without an email (I3, I5). */
export class Migration20260603090000_merged_people extends Migration {
  override up(): void {
    this.addSql(`create table directory.merged_people (
      gone_id integer not null,
      into_id integer not null,
      merged_at timestamptz not null default clock_timestamp(),
      constraint merged_people__gone_id__primary primary key (gone_id)
    )`);
    this.addSql('create index merged_people__into_id__index on directory.merged_people (into_id)');
    this.addSql(`comment on column directory.merged_people.into_id is 'no foreign key: it stays when who stayed is erased'`);
    this.addSql(`create table directory.person_aliases (
      kind text not null,
      value text not null,
      person_id integer not null,
      constraint person_aliases__kind_value__primary primary key (kind, value),
      constraint person_aliases__kind__known check (kind in ('email', 'key', 'origin')),
      constraint person_aliases__person_id__foreign foreign key (person_id) references directory.people (id) on delete cascade
    )`);
    this.addSql('create index person_aliases__person_id__index on directory.person_aliases (person_id)');
    this.addSql(`comment on column directory.person_aliases.value is 'an email is trimmed and in lower case'`);
  }
}
