import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

/** What is removed: accents of Latin, Greek and Cyrillic, points and vowel signs of Hebrew and Arabic, and what is not seen. */
const dropped =
  '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670' +
  '\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff';
const spaces = ' \\t\\u000b\\u000c\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const single = {
  from: 'ςøłđðħıŋŧ`‘’‚‛ʹʻʼ′‹›׳“”„‟«»〝〞״‐‒–—―−',
  to: `σolddhint${"'".repeat(12)}${'"'.repeat(9)}${'-'.repeat(6)}`,
} as const;
const double = { ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' } as const;
/** Raw or folded as before, a text that holds one of these is folded otherwise now. */
const affected = `[${single.from}${Object.keys(double).join('')}´″ẞŁØÆŒĐÐÞĦŊŦ${dropped.slice(dropped.indexOf('\\u1ab0'))}]|  |[${spaces.slice(1)}]`;
const tables = [
  ['people', 'contact'],
  ['holons', 'links'],
] as const;

/**
 * One folding for all searches (D87): `ß` is `ss`, `ł` is `l`, typographic apostrophes, quotes and dashes are those of ASCII, all spaces are one. The
 * functions keep their names, so that the release before this one asks for what it finds. Who has an address is compared by functions and indexes of
 * their own; those of before stay for that release.
 */
export class Migration20261130100000_one_folding extends OnlineMigration {
  override up(): void {
    this.#replaceFolding();
    for (const [table, channels] of tables) this.#foldAgain(table, channels);
    this.addBackfill({
      table: 'directory.journeys',
      key: 'id',
      sql: 'update directory.journeys set name = name, slug = slug where id > $1 and id <= $2',
    });
    // Each word of the input, which spaces and commas separate, is in the text and begins a word there.
    this
      .addSql(`create function directory.has_words(text text, words text, input text) returns boolean language sql immutable strict parallel safe
      return (select coalesce(bool_and(strpos(text, word) > 0 and words like '% ' || directory.like_literal(ltrim(directory.words(word))) || '%'), false)
        from regexp_split_to_table(btrim(input, ' ,;'), '[,;]* +') as word)`);
    // The longest words of a text of several, as patterns that an index of trigrams is asked for.
    this
      .addSql(`create function directory.word_pattern(input text, place integer) returns text language sql immutable strict parallel safe
      return coalesce((select '% ' || directory.like_literal(word) || '%'
        from (select word, row_number() over (order by char_length(word) desc, word) as rank
              from unnest(string_to_array(btrim(directory.words(input)), ' ')) as word) as ranked where rank = place), '%')`);
    this.#compareAddresses();
  }

  #replaceFolding(): void {
    const signs = (input: string): string => `translate(${input}, '´″', '''"')`;
    const rest = (normalized: string): string => {
      const lower = `lower(regexp_replace(${normalized}, '[${dropped}]+', '', 'g') collate "und-x-icu")`;
      const letters = `translate(${lower}, '${single.from}', '${single.to.replaceAll("'", "''")}')`;
      const spelled = Object.entries(double).reduce(
        (text, [from, to]) => `replace(${text}, '${from}', '${to}')`,
        letters,
      );
      return `regexp_replace(${spelled}, '[${spaces}]+', ' ', 'g')`;
    };
    this
      .addSql(`create or replace function directory.fold(input text) returns text language sql immutable strict parallel safe
      return ${rest(`normalize(${signs('input')}, NFKD)`)}`);
    const parts = `string_agg(normalize(${signs('substr(start.text, place, 200)')}, NFKD), '' order by place)`;
    this
      .addSql(`create or replace function directory.fold_start(input text, size integer) returns text language sql immutable strict parallel safe
      return (select coalesce(left(${rest(`left(${parts}, 3 * size)`)}, size), '')
        from (select left(input, size) as text offset 0) as start, generate_series(1, char_length(start.text), 200) as place)`);
  }

  /** A generated column is made again by a write of what it is made of; values of channels are made by a trigger, of what has changed. */
  #foldAgain(table: string, channels: string): void {
    const raw = ['name', 'description', `${channels}::text`].map((column) => `${column} ~ '[´″]'`).join(' or ');
    const where = `id > $1 and id <= $2 and (search_text ~ '${affected}' or search_description ~ '${affected}' or ${raw})`;
    const rows = { table: `directory.${table}`, key: 'id' };
    const values = `directory.${table}_channel_values`;
    const replaceValues = `with again as materialized (select id, name, ${channels} from directory.${table} where ${where}),
      gone as (delete from ${values} where owner_id in (select id from again))
      insert into ${values} (owner_id, value, search_name)
      select distinct r.id, directory.fold_start(channel.value, 500), directory.fold_start(r.name, 150)
      from again as r, jsonb_each_text(r.${channels}) as channel where channel.value <> ''`;
    this.addBackfill({ ...rows, sql: replaceValues });
    const again = ['name', 'description', channels].map((column) => `${column} = ${column}`).join(', ');
    this.addBackfill({ ...rows, sql: `update directory.${table} set ${again} where ${where}` });
  }

  #compareAddresses(): void {
    // RFC 3492, a label of a domain; one that is too long for a label stays as it is.
    this
      .addSql(`create function directory.ascii_label(input text) returns text language plpgsql immutable strict parallel safe as $$
      declare
        codes integer[];
        label text;
        n bigint := 128;
        delta bigint := 0;
        bias bigint := 72;
        done integer;
        basic integer;
        code bigint;
        q bigint;
        k bigint;
        t bigint;
      begin
        if input !~ '[^\\u0001-\\u007f]' or char_length(input) > 63 then
          return input;
        end if;
        codes := array(select ascii(c) from unnest(string_to_array(input, null)) with ordinality as u(c, place) order by place);
        label := regexp_replace(input, '[^\\u0001-\\u007f]', '', 'g');
        basic := char_length(label);
        done := basic;
        if basic > 0 then
          label := label || '-';
        end if;
        while done < cardinality(codes) loop
          code := (select min(c) from unnest(codes) as c where c >= n);
          delta := delta + (code - n) * (done + 1);
          n := code;
          foreach code in array codes loop
            if code < n then
              delta := delta + 1;
            elsif code = n then
              q := delta;
              k := 36;
              loop
                t := greatest(1, least(26, k - bias));
                exit when q < t;
                label := label || substr('abcdefghijklmnopqrstuvwxyz0123456789', (t + (q - t) % (36 - t) + 1)::integer, 1);
                q := (q - t) / (36 - t);
                k := k + 36;
              end loop;
              label := label || substr('abcdefghijklmnopqrstuvwxyz0123456789', (q + 1)::integer, 1);
              delta := case when done = basic then delta / 700 else delta / 2 end;
              delta := delta + delta / (done + 1);
              k := 0;
              while delta > 455 loop
                delta := delta / 35;
                k := k + 36;
              end loop;
              bias := k + 36 * delta / (delta + 38);
              delta := 0;
              done := done + 1;
            end if;
          end loop;
          delta := delta + 1;
          n := n + 1;
        end loop;
        return 'xn--' || label;
      end $$`);
    const visible = `btrim(regexp_replace(normalize(input, NFC), '[\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff]', '', 'g'),
      E' \\t\\n\\r\\u00a0')`;
    // Null where nothing is left. An index takes 2,704 bytes.
    this
      .addSql(`create function directory.email_key(input text) returns text language plpgsql immutable strict parallel safe as $$
      declare
        address text := left(${visible}, 500);
        domain text;
      begin
        if address ~* '^mailto:' then
          address := btrim(regexp_replace(substr(address, 8), '[?].*$', ''));
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
    this
      .addSql(`create function directory.linkedin_address(input text) returns text language sql immutable strict parallel safe
      return nullif(left(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        lower(${visible} collate "und-x-icu"),
        '^([a-z][a-z0-9+.-]*:)?//', ''), '[?#].*$', ''), '/+', '/', 'g'), '/$', ''),
        '^(?:www\\.|(?:[a-z0-9-]+\\.)*(linkedin\\.com)\\.?(?::[0-9]*)?(?=/|$))', '\\1'),
        '^(linkedin\\.com/[^/]+/[^/]+)/[a-z]{2}(?:[-_][a-z]{2})?$', '\\1'), 500), '')`);
    // As people are found by phone: digits, without the two zeros before the number of a country.
    this
      .addSql(`create function directory.phone_digits(input text) returns text language sql immutable strict parallel safe
      return left(nullif(regexp_replace(regexp_replace(replace(input, '(0)', ''), '[^0-9]', '', 'g'), '^00', ''), ''), 50)`);
    this
      .addSql(`create index concurrently people__email_key__index on directory.people ((directory.email_key(contact ->> 'email')) collate "C")
      where contact ->> 'email' is not null`);
    this
      .addSql(`create index concurrently people__phone_digits__index on directory.people ((directory.phone_digits(contact ->> 'phone')) collate "C")
      where contact ->> 'phone' is not null`);
    this
      .addSql(`create index concurrently people__linkedin_address__index on directory.people ((directory.linkedin_address(contact ->> 'linkedin')) collate "C")
      where contact ->> 'linkedin' is not null`);
    this
      .addSql(`create index person_aliases__email_key__index on directory.person_aliases ((directory.email_key(value)) collate "C")
      where kind = 'email'`);
  }
}
