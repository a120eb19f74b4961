import { Migration } from '#libs/infrastructure/orm/migrations';

/** Erasures of people in progress, and finished ones for 30 days (W20). */
export class Migration20261205031000_person_erasures extends Migration {
  override up(): void {
    this.addSql(`create table directory.person_erasures (
      id bigint generated always as identity,
      person_id integer not null,
      state text not null default 'running',
      services jsonb not null,
      identity jsonb,
      requester jsonb not null,
      operator text not null,
      started_at timestamptz not null default clock_timestamp(),
      finished_at timestamptz,
      constraint person_erasures__id__primary primary key (id),
      constraint person_erasures__state__known check (state in ('running', 'done', 'failed'))
    )`);
    this.addSql(
      `create unique index person_erasures__unfinished__unique on directory.person_erasures (person_id) where state <> 'done'`,
    );
    this.addSql('create index person_erasures__person_id__index on directory.person_erasures (person_id, id)');
    this.addSql(
      `create index person_erasures__finished_at__index on directory.person_erasures (finished_at) where finished_at is not null`,
    );
    this.addSql(
      `comment on column directory.person_erasures.identity is 'what identifies the person in other services; null when done'`,
    );
  }
}
