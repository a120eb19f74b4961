import { Migration } from '#libs/orm/migrations';

/** Characters of a folded name, of all channel values together, and of a description that search sees; of one channel value, and the name beside it. */
const horizon = { name: 600, channels: 4_000, description: 10_000, value: 500, valueName: 150 } as const;

const tables = [
  ['people', 'contact'],
  ['holons', 'links'],
] as const;

/**
 * What search keeps of a row has a bound, and its work grows with the length of the text and no faster: any text within the limits is stored within
 * 100 ms (docs/performance-notes.md#search-limits-per-row). The columns and indexes are those of before, under the same names.
 */
export class Migration20260402090000_search_horizon extends Migration {
  override up(): void {
    // As `fold`, of the start of a text. The marks of one letter are ordered by comparing each with each, so that a long row of them is normalised in
    // parts; one character may become eighteen, so that the result is cut before it is folded and again behind it.
    this.addSql(`create function directory.fold_start(input text, size integer) returns text language sql immutable strict parallel safe
      return (select coalesce(left(lower(regexp_replace(left(string_agg(normalize(substr(start.text, place, 200), NFKD), '' order by place),
          3 * size), '[\\u0300-\\u036f]+', '', 'g') collate "und-x-icu"), size), '')
        from (select left(input, size) as text offset 0) as start, generate_series(1, char_length(start.text), 200) as place)`);
    this.#replaceGrams();
    for (const [table, channels] of tables) {
      this.#keepChannelValues(table, channels);
      this.#replaceColumns(table, channels);
    }
    for (const [table, texts] of [
      ['people', 'search_name'],
      ['holons', `search_name || E'\\n' || search_description collate "C"`],
    ]) {
      this.addSql(`create index ${table}__listed__long_grams on directory.${table} using gin (directory.long_grams(${texts}))`);
    }
  }

  /** The same pieces in linear time: the characters are taken apart once. The index drops repeated ones by itself. */
  #replaceGrams(): void {
    this.addSql(`create or replace function directory.long_grams(input text) returns text[]
      language plpgsql immutable strict parallel safe cost 1000 as $$
      declare
        c text[] := string_to_array(input, null);
        grams text[] := '{}';
      begin
        for place in 1 .. cardinality(c) - 4 loop
          grams := grams || (c[place] || c[place + 1] || c[place + 2] || c[place + 3] || c[place + 4]);
        end loop;
        return grams;
      end $$`);
    this.addSql(`create or replace function directory.short_grams(input text) returns text[]
      language plpgsql immutable strict parallel safe cost 5000 as $$
      declare
        characters text[] := string_to_array(input, null);
      begin
        return characters || array(
          select pair.first || pair.second from unnest(characters, characters[2:]) as pair(first, second) where pair.second is not null);
      end $$`);
  }

  #replaceColumns(table: string, channels: string): void {
    const columns = ['search_name', 'search_text', 'search_words', 'search_description'];
    const name = `directory.fold_start(name, ${horizon.name})`;
    const text = `${name} || E'\\n' || directory.fold_start(directory.channel_text(${channels}), ${horizon.channels})`;
    this.addSql(`alter table directory.${table} ${columns.map((column) => `drop column ${column}`).join(', ')}`);
    this.addSql(`alter table directory.${table}
      add column search_name text collate "C" generated always as (${name}) stored,
      add column search_text text collate "und-x-icu" generated always as (${text}) stored,
      add column search_words text collate "und-x-icu" generated always as (directory.words(' ' || ${text})) stored,
      add column search_description text collate "und-x-icu" generated always as
        (directory.fold_start(description, ${horizon.description})) stored`);
    this.addSql(`alter table directory.${table} alter column search_name set statistics 200,
      alter column search_words set statistics 200, alter column search_description set statistics 200`);
    this.addSql(`create index ${table}__search_name__order on directory.${table} (search_name, id)`);
    for (const column of ['search_name', 'search_words', 'search_description']) {
      this.addSql(`create index ${table}__${column}__trgm on directory.${table} using gin (${column} public.gin_trgm_ops)`);
    }
    // Pieces are compared byte by byte: sorting those of a long text by the rules of a language takes longer than making them.
    const searched = `(search_text || E'\\n' || search_description) collate "C"`;
    this.addSql(`create index ${table}__search__grams on directory.${table} using gin (directory.short_grams(${searched}))`);
    this.addSql(`create index ${table}__search__long_grams on directory.${table} using gin (directory.long_grams(${searched}))`);
    this.addSql(`alter index directory.${table}__search__long_grams alter column 1 set statistics 0`);
  }

  /** As before, but that no row is larger than an index takes: 2,704 bytes. */
  #keepChannelValues(table: string, channels: string): void {
    const values = `${table}_channel_values`;
    const insert = (rows: string): string => `insert into directory.${values} (owner_id, value, search_name)
      select distinct r.id, directory.fold_start(channel.value, ${horizon.value}), directory.fold_start(r.name, ${horizon.valueName})
      from ${rows} as r, jsonb_each_text(r.${channels}) as channel where channel.value <> ''`;
    const changed = `from added a join removed r using (id) where (a.name, a.${channels}) is distinct from (r.name, r.${channels})`;
    this.addSql(`create or replace function directory.${values}__keep() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          ${insert('added')};
        else
          delete from directory.${values} where owner_id in (select a.id ${changed});
          ${insert(`(select a.* ${changed})`)};
        end if;
        return null;
      end $$`);
  }
}
