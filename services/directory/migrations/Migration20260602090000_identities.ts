import { Migration } from '#libs/orm/migrations';

/** Identities (rules/access#identity-provider): who an identity provider names, and the account that they are. */
export class Migration20260602090000_identities extends Migration {
  override up(): void {
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
  }
}
