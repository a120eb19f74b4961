import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

const invisible = String.raw`[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]`;
const outerSpace = String.raw`E' \t\n\r\u00a0'`;
/** Percent-encoded characters; those that separate the parts of an address, and what is not UTF-8, stay encoded. */
const next = '%[89AaBb][0-9A-Fa-f]';
const encoded = [
  '%2[0124-9A-Ea-e]',
  '%3[0-9A-Ea-e]',
  '%[4-6][0-9A-Fa-f]',
  '%7[0-9A-Ea-e]',
  `%(?:[Cc][2-9A-Fa-f]|[Dd][0-9A-Fa-f])${next}`,
  `%[Ee]0%[AaBb][0-9A-Fa-f]${next}`,
  `%[Ee][1-9A-Ca-cEeFf]${next}${next}`,
  `%[Ee][Dd]%[89][0-9A-Fa-f]${next}`,
  `%[Ff]0%[9AaBb][0-9A-Fa-f]${next}${next}`,
  `%[Ff][1-3]${next}${next}${next}`,
  `%[Ff]4%8[0-9A-Fa-f]${next}${next}`,
].join('|');
const visible = (input: string): string =>
  `btrim(regexp_replace(normalize(${input}, NFC), '${invisible}', '', 'g'), ${outerSpace})`;

/**
 * An address that is written and the same percent-encoded are one, in `mailto:` and in LinkedIn addresses, whose mobile and overlay pages are that of
 * the person (D44, D87). The functions keep their names; the indexes on what they gave are built again.
 */
export class Migration20261202100000_written_addresses extends OnlineMigration {
  override up(): void {
    this
      .addSql(`create function directory.percent_decoded(input text) returns text language sql immutable strict parallel safe
      return case when input !~ '%[0-9A-Fa-f]{2}' then input else
        (select string_agg(case when part[1] ~ '^(?:${encoded})$' then convert_from(decode(replace(part[1], '%', ''), 'hex'), 'UTF8') else part[1] end, '' order by place)
          from regexp_matches(input, '${encoded}|[^%]+|%', 'g') with ordinality as parts(part, place)) end`);
    this.#replaceEmailKey();
    this
      .addSql(`create or replace function directory.linkedin_address(input text) returns text language sql immutable strict parallel safe
      return nullif(left(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        lower(${visible(`directory.percent_decoded(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
          ${visible('left(input, 4000)')}, '^([A-Za-z][A-Za-z0-9+.-]*:)?//', ''), '[?#].*$', ''), '/+', '/', 'g'), '/$', ''))`)} collate "und-x-icu"),
        '^(?:www\\.|(?:[a-z0-9-]+\\.)*(linkedin\\.com)\\.?(?::[0-9]*)?(?=/|$))', '\\1'),
        '^(linkedin\\.com)/(?:mwlite|m)(?=/in/)', '\\1'),
        '^(linkedin\\.com/in/[^/]+)/(?:overlay|details|recent-activity)/.+$', '\\1'),
        '^(linkedin\\.com/[^/]+/[^/]+)/[a-z]{2}(?:[-_][a-z]{2})?$', '\\1'), 500), '')`);
    this.#rebuild('people', 'email_key', "contact ->> 'email'", "contact ->> 'email' is not null");
    this.#rebuild('people', 'linkedin_address', "contact ->> 'linkedin'", "contact ->> 'linkedin' is not null");
    this.#rebuild('person_aliases', 'email_key', 'value', "kind = 'email'");
  }

  #replaceEmailKey(): void {
    this
      .addSql(`create or replace function directory.email_key(input text) returns text language plpgsql immutable strict parallel safe as $$
      declare
        address text := left(${visible('input')}, 500);
        domain text;
      begin
        if address ~* '^mailto:' then
          address := directory.percent_decoded(regexp_replace(substr(address, 8), '[?].*$', ''));
          address := ${visible('address')};
        end if;
        address := lower(address collate "und-x-icu");
        domain := substring(address from '@([^@]*)$');
        if domain is not null then
          domain := rtrim(translate(domain, '。．｡', '...'), '.');
          if domain ~ '[^\\u0001-\\u007f]' then
            domain := (select string_agg(directory.ascii_label(label), '.' order by place)
              from unnest(string_to_array(normalize(domain, NFKC), '.')) with ordinality as labels(label, place));
          end if;
          address := substring(address from '^(.*)@[^@]*$') || '@' || domain;
        end if;
        return nullif(address, '');
      end $$`);
  }

  /** The new index first, so that each look-up has one. */
  #rebuild(table: string, key: string, value: string, where: string): void {
    this
      .addSql(`create index concurrently ${table}__${key}_decoded__index on directory.${table} ((directory.${key}(${value})) collate "C")
      where ${where}`);
    this.addSql(`drop index concurrently if exists directory.${table}__${key}__index`);
  }
}
