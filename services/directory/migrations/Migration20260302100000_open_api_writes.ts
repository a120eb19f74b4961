import { Migration } from '#libs/orm/migrations';

/** What writes of the open API look people up by, and which logo of a holon is the newest. */
export class Migration20260302100000_open_api_writes extends Migration {
  override up(): void {
    // What tells two LinkedIn addresses apart (D44): neither case nor scheme, `www.`, query, fragment or trailing slashes. Cut, so that any
    // value fits into an index.
    this.addSql(`create function directory.linkedin_key(input text) returns text language sql immutable strict parallel safe
      return left(regexp_replace(regexp_replace(regexp_replace(lower(btrim(input)),
        '^([a-z][a-z0-9+.-]*:)?//', ''), '^www\\.', ''), '/*([?#].*)?$', ''), 500)`);
    this.addSql(`create index people__contact_linkedin__index on directory.people (directory.linkedin_key(contact ->> 'linkedin'))
      where contact ->> 'linkedin' is not null`);
    this.addSql('alter table directory.holons add column logo_blob_id integer');
    this.addSql(`comment on column directory.holons.logo_blob_id is 'blob of the media service behind logo_url; rises with each upload'`);
  }
}
