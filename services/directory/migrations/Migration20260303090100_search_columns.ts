import { Migration } from '#libs/orm/migrations';

/** What lists and search of the open API compare: folded once when a row is written, and indexed for any length of query (D42, D47). */
export class Migration20260303090100_search_columns extends Migration {
  override up(): void {
    // Text as a pattern of LIKE that means nothing but itself.
    this.addSql(`create function directory.like_literal(input text) returns text language sql immutable strict parallel safe
      return replace(replace(replace(input, '\\', '\\\\'), '%', '\\%'), '_', '\\_')`);
    // What is between two words as one space, so that the start of a word is a space and its characters.
    this.addSql(`create function directory.words(input text) returns text language sql immutable strict parallel safe
      return regexp_replace(input collate "und-x-icu", '[^[:alnum:]]+', ' ', 'g')`);

    // Every character and pair of characters once: trigrams find nothing for queries of less than three.
    this.addSql(`create function directory.short_grams(input text) returns text[] language sql immutable strict parallel safe cost 5000
      return (select coalesce(array_agg(distinct gram.text), '{}')
        from (select character, lead(character) over (order by place) as following
              from unnest(string_to_array(input, null)) with ordinality as c(character, place)) as pair,
          lateral (values (pair.character), (pair.character || pair.following)) as gram(text)
        where gram.text is not null)`);

    for (const [table, channels] of [
      ['people', 'contact'],
      ['holons', 'links'],
    ] as const) {
      // search_text: the name, then each channel value, on lines of their own: they rank alike. The collation knows the letters of every script.
      this.addSql(`alter table directory.${table}
        add column search_name text collate "C" generated always as (directory.fold(name)) stored,
        add column search_text text collate "und-x-icu" generated always as
          (directory.fold(name) || E'\\n' || directory.fold(directory.channel_text(${channels}))) stored,
        add column search_words text collate "und-x-icu" generated always as
          (directory.words(' ' || directory.fold(name) || E'\\n' || directory.fold(directory.channel_text(${channels})))) stored,
        add column search_description text collate "und-x-icu" generated always as (directory.fold(description)) stored`);
      this.addSql(`alter table directory.${table} alter column search_name set statistics 200,
        alter column search_words set statistics 200, alter column search_description set statistics 200`);
      this.addSql(`create index ${table}__search_name__order on directory.${table} (search_name, id)`);
      for (const column of ['search_name', 'search_words', 'search_description']) {
        this.addSql(`create index ${table}__${column}__trgm on directory.${table} using gin (${column} public.gin_trgm_ops)`);
      }
      this.addSql(`create index ${table}__search__grams on directory.${table}
        using gin (directory.short_grams(search_text || E'\\n' || search_description))`);
      for (const column of ['name', 'description', channels]) this.addSql(`drop index directory.${table}__${column}__trgm`);
      this.#keepChannelValues(table, channels);
    }
    this.#searchJourneys();
  }

  /** Journeys are found by name or slug. */
  #searchJourneys(): void {
    this.addSql(`alter table directory.journeys add column search_text text collate "C" generated always as
      (directory.fold(name) || E'\\n' || directory.fold(slug)) stored`);
    this.addSql('create index journeys__name__order on directory.journeys (name, id)');
    this.addSql('create index journeys__search_text__trgm on directory.journeys using gin (search_text public.gin_trgm_ops)');
    this.addSql('create index journeys__search_text__grams on directory.journeys using gin (directory.short_grams(search_text))');
  }

  /** One row for each channel value: exact hits and those at the start of a value, with the name that orders them. */
  #keepChannelValues(table: 'people' | 'holons', channels: string): void {
    const values = `${table}_channel_values`;
    const insert = (rows: string): string => `insert into directory.${values} (owner_id, value, search_name)
      select distinct r.id, left(directory.fold(channel.value), 500), directory.fold(r.name)
      from ${rows} as r, jsonb_each_text(r.${channels}) as channel where channel.value <> ''`;
    const changed = `from added a join removed r using (id) where (a.name, a.${channels}) is distinct from (r.name, r.${channels})`;
    this.addSql(`create table directory.${values} (
      owner_id integer not null,
      value text collate "C" not null,
      search_name text collate "C" not null,
      constraint ${values}__owner_id__foreign foreign key (owner_id) references directory.${table} (id) on delete cascade
    )`);
    this.addSql(`create index ${values}__owner_id__index on directory.${values} (owner_id)`);
    this.addSql(`create index ${values}__value__index on directory.${values} (value, search_name, owner_id)`);
    this.addSql(`create index ${values}__start__order on directory.${values} (left(value, 2), search_name, owner_id, value)`);
    this.addSql(`create function directory.${values}__keep() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          ${insert('added')};
        else
          delete from directory.${values} where owner_id in (select a.id ${changed});
          ${insert(`(select a.* ${changed})`)};
        end if;
        return null;
      end $$`);
    for (const [event, referencing] of [
      ['insert', 'new table as added'],
      ['update', 'new table as added old table as removed'],
    ]) {
      this.addSql(`create trigger ${values}__keep_${event} after ${event} on directory.${table} referencing ${referencing}
        for each statement execute function directory.${values}__keep()`);
    }
    this.addSql(insert(`directory.${table}`));
  }
}
