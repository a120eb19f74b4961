import { Migration } from '#libs/orm/migrations';

/** What lets a request of no client into the internal port, once. */
export class Migration20260403100000_tickets extends Migration {
  override up(): void {
    this.addSql(`create table media.tickets (
      ticket_sha256 bytea primary key,
      request text not null,
      expires_at timestamptz not null
    )`);
    this.addSql('create index tickets__expires_at__index on media.tickets (expires_at)');
    this.addSql(`comment on table media.tickets is 'for one HTTP request each: method and path; gone once it is used'`);
  }
}
