import { Migration } from '#libs/orm/migrations';

/** Service keys (rules/access#service-keys): a hash of the secret, and of those that still work while rotations overlap. */
export class Migration20260405090000_service_keys extends Migration {
  override up(): void {
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
    this.addSql('create index service_keys__account_id__order on directory.service_keys (account_id, created_at desc, id)');
    this.addSql('create index service_keys__created_at__order on directory.service_keys (created_at desc, id)');
    this.addSql(`create index service_keys__created_by_account_id__index on directory.service_keys (created_by_account_id)
      where created_by_account_id is not null`);
  }
}
