import { Migration } from '#libs/infrastructure/orm/migrations';

/** Invitations that set the password of an account (W7, W19). */
export class Migration20261205073000_invitations extends Migration {
  override up(): void {
    this.addSql(`create table directory.invitations (
      account_id integer not null,
      token_sha256 bytea not null,
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz not null,
      constraint invitations__account_id__primary primary key (account_id),
      constraint invitations__account_id__foreign foreign key (account_id) references directory.accounts (id) on delete cascade,
      constraint invitations__token_sha256__unique unique (token_sha256),
      constraint invitations__token_sha256__length check (octet_length(token_sha256) = 32)
    )`);
    this.addSql(`create index invitations__expires_at__index on directory.invitations (expires_at)`);
  }
}
