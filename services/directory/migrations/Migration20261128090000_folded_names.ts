import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

const final = 'ς';
const usual = 'σ';
const tables = [
  ['people', 'contact'],
  ['holons', 'links'],
] as const;

/**
 * The small sigma at the end of a word is the one within a word, or a part of a Greek name would not be found (D47). Journeys have a folded name, too,
 * so that all lists by name have one order, whatever the locale of the database. The indexes on names as they are stay for the release before this one.
 */
export class Migration20261128090000_folded_names extends OnlineMigration {
  override up(): void {
    this
      .addSql(`create or replace function directory.fold(input text) returns text language sql immutable strict parallel safe
      return translate(lower(regexp_replace(normalize(input, NFKD), '[\\u0300-\\u036f]+', '', 'g') collate "und-x-icu"), '${final}', '${usual}')`);
    this
      .addSql(`create or replace function directory.fold_start(input text, size integer) returns text language sql immutable strict parallel safe
      return (select coalesce(left(translate(lower(regexp_replace(left(string_agg(normalize(substr(start.text, place, 200), NFKD), '' order by place),
          3 * size), '[\\u0300-\\u036f]+', '', 'g') collate "und-x-icu"), '${final}', '${usual}'), size), '')
        from (select left(input, size) as text offset 0) as start, generate_series(1, char_length(start.text), 200) as place)`);
    for (const [table, channels] of tables) this.#foldAgain(table, channels);
    this.addBackfill({
      table: 'directory.journeys',
      key: 'id',
      sql: `update directory.journeys set name = name, slug = slug where id > $1 and id <= $2 and search_text like '%${final}%'`,
    });
    this.#nameJourneys();
    this.addSql('create index concurrently journeys__search_name__order on directory.journeys (search_name, id)');
    this.addSql(
      'create index concurrently holons__class_id_search_name__order on directory.holons (class_id, search_name, id)',
    );
  }

  /** A generated column would write the whole table anew while nothing can read it. */
  #nameJourneys(): void {
    this.addSql('alter table directory.journeys add column search_name text collate "C"');
    this.addSql(`create function directory.journeys__fold_name() returns trigger language plpgsql as $$
      begin new.search_name := directory.fold_start(new.name, 600); return new; end $$`);
    this.addSql(`create trigger journeys__fold_name before insert or update of name on directory.journeys
      for each row execute function directory.journeys__fold_name()`);
    this.addBackfill({
      table: 'directory.journeys',
      key: 'id',
      sql: 'update directory.journeys set name = name where id > $1 and id <= $2',
    });
  }

  /** A generated column is made again by a write of what it is made of. */
  #foldAgain(table: string, channels: string): void {
    const again = ['name', 'description', channels].map((column) => `${column} = ${column}`).join(', ');
    this.addBackfill({
      table: `directory.${table}`,
      key: 'id',
      sql: `update directory.${table} set ${again}
        where id > $1 and id <= $2 and (search_text like '%${final}%' or search_description like '%${final}%')`,
    });
    const folded = ['value', 'search_name']
      .map((column) => `${column} = translate(${column}, '${final}', '${usual}')`)
      .join(', ');
    this.addBackfill({
      table: `directory.${table}`,
      key: 'id',
      sql: `update directory.${table}_channel_values set ${folded}
        where owner_id > $1 and owner_id <= $2 and (value like '%${final}%' or search_name like '%${final}%')`,
    });
  }
}
