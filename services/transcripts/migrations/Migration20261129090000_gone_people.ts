import { Migration } from '#libs/orm/migrations';

/** Who was erased or merged, so that what an import stores later is nobody's words or those of who stays; and speakers who were erased. */
export class Migration20261129090000_gone_people extends Migration {
  override up(): void {
    this.addSql(`create table transcripts.gone_people (
      person_id integer not null,
      into_id integer,
      gone_at timestamptz not null default clock_timestamp(),
      constraint gone_people__person_id__primary primary key (person_id)
    )`);
    this.addSql(`create index gone_people__into_id__index on transcripts.gone_people (into_id) where into_id is not null`);
    this.addSql(`comment on column transcripts.gone_people.into_id is 'who stays after a merge; null = erased'`);
    this.addSql(`alter table transcripts.speakers add column erased boolean not null default false`);
    this.addSql(`comment on column transcripts.speakers.erased is 'a person who was erased: another import stores neither words nor name'`);
  }
}
