import { auditTables } from '#libs/infrastructure/audit';
import { feedTables } from '#libs/infrastructure/feed';
import { idempotencyRecordsTable } from '#libs/infrastructure/idempotency';
import { failedJobs, sentRemoteJobs, jobAttempts, redactStoredErrors } from '#libs/infrastructure/jobs';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

/** Changes from release 0.1.0 to 0.2.0. */
export class Migration20261127090000_release_0_2_0 extends OnlineMigration {
  override up(): void {
    // Audit log
    for (const sql of auditTables('directory')) this.addSql(sql);

    // Service keys (rules/access#service-keys): a hash of the secret, and of those that still work while rotations overlap.
    this.addSql(`create table directory.service_keys (
      id text not null,
      name text not null,
      account_id integer not null,
      scopes text[] not null,
      secret_sha256 bytea not null,
      previous_sha256 bytea,
      previous_until timestamptz,
      oldest_sha256 bytea,
      oldest_until timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      created_by_account_id integer,
      created_by_key_id text,
      expires_at timestamptz,
      last_used_at timestamptz,
      revoked_at timestamptz,
      constraint service_keys__id__primary primary key (id),
      constraint service_keys__account_id__foreign foreign key (account_id) references directory.accounts (id) on delete cascade,
      constraint service_keys__created_by_account_id__foreign foreign key (created_by_account_id) references directory.accounts (id)
        on delete set null,
      constraint service_keys__id__shape check (id ~ '^[0-9A-Za-z]{12,24}$'),
      constraint service_keys__scopes__some check (cardinality(scopes) > 0),
      constraint service_keys__secret_sha256__length check (octet_length(secret_sha256) = 32),
      constraint service_keys__previous__whole check ((previous_sha256 is null) = (previous_until is null)),
      constraint service_keys__oldest__whole check ((oldest_sha256 is null) = (oldest_until is null))
    )`);
    this.addSql(
      'create index service_keys__account_id__order on directory.service_keys (account_id, created_at desc, id)',
    );
    this.addSql('create index service_keys__created_at__order on directory.service_keys (created_at desc, id)');
    this
      .addSql(`create index service_keys__created_by_account_id__index on directory.service_keys (created_by_account_id)
      where created_by_account_id is not null`);

    // Job attempts
    for (const sql of jobAttempts('directory', 'concurrently')) this.addSql(sql);

    // Kept answers
    for (const sql of idempotencyRecordsTable('directory')) this.addSql(sql);

    // Identities (rules/access#identity-provider): who an identity provider names, and the account that they are.
    this.addSql(`create table directory.identities (
      issuer text not null,
      subject text not null,
      account_id integer not null,
      linked_by text not null,
      linked_at timestamptz not null default clock_timestamp(),
      constraint identities__issuer__subject__primary primary key (issuer, subject),
      constraint identities__account_id__foreign foreign key (account_id) references directory.accounts (id) on delete cascade,
      constraint identities__linked_by__known check (linked_by in ('operator', 'email')),
      constraint identities__issuer__length check (length(issuer) between 1 and 512),
      constraint identities__subject__length check (length(subject) between 1 and 255)
    )`);
    this.addSql('create index identities__account_id__index on directory.identities (account_id)');

    // Who is somebody else now, and what still means who went: emails, keys of the workspace file, attendees without an email (I3, I5).
    this.addSql(`create table directory.merged_people (
      gone_id integer not null,
      into_id integer not null,
      merged_at timestamptz not null default clock_timestamp(),
      constraint merged_people__gone_id__primary primary key (gone_id)
    )`);
    this.addSql('create index merged_people__into_id__index on directory.merged_people (into_id)');
    this.addSql(
      `comment on column directory.merged_people.into_id is 'no foreign key: it stays when who stayed is erased'`,
    );
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

    // Feed
    for (const sql of feedTables('directory')) this.addSql(sql);

    // Handed over jobs
    for (const sql of sentRemoteJobs('directory')) this.addSql(sql);

    // Accounts that an operator unlinked: none of them is linked by its email again (rules/access#identity-provider; S2).
    this.addSql('alter table directory.accounts add column unlinked_at timestamptz');
    this.addSql(
      "comment on column directory.accounts.unlinked_at is 'when an operator unlinked an identity; null again when one is linked by an operator'",
    );

    // Sessions of the console, which no API route takes (rules/console#session; S3). Those of before are sessions of the API: people sign in once more.
    this.addSql('alter table directory.login_sessions add column for_console boolean not null default false');

    // Operators name a step by its slug alone, whatever its journey (P5).
    this.addSql('create index concurrently journey_steps__slug__index on directory.journey_steps (slug)');

    // Failed jobs
    for (const sql of failedJobs('directory', 'concurrently')) this.addSql(sql);

    // What both people of a merge were known by before it: a database of that time knows them so (rules/operations#after-a-restore).
    this.addSql(`alter table directory.merged_people add column were jsonb not null default '[]'`);
    this.addSql(
      `comment on column directory.merged_people.were is 'ids and digests of both, as people.identify tells them'`,
    );

    // By which Telegram user somebody was known who is somebody else now (I5): their chats are handed out and removed too.
    this.addSql(`alter table directory.person_aliases drop constraint person_aliases__kind__known`);
    this.addSql(
      `alter table directory.person_aliases add constraint person_aliases__kind__known check (kind in ('email', 'key', 'origin', 'telegram'))`,
    );

    // Job errors of earlier releases, without secrets.
    this.addWork((query) => redactStoredErrors('directory', query));
  }
}
