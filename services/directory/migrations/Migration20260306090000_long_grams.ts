import { Migration } from '#libs/orm/migrations';

/**
 * Five characters in a row are in far fewer texts than three: lists find a name by them without reading the rows of every syllable of it
 * (docs/performance-notes.md#substring-search).
 */
export class Migration20260306090000_long_grams extends Migration {
  override up(): void {
    // A loop, since it takes a seventh of the time of a query: every write of a person or holon computes them.
    this.addSql(`create function directory.long_grams(input text) returns text[]
      language plpgsql immutable strict parallel safe cost 1000 as $$
      declare
        grams text[] := '{}';
      begin
        for place in 1 .. char_length(input) - 4 loop
          grams := grams || substr(input, place, 5);
        end loop;
        return grams;
      end $$`);
    for (const [table, texts] of [
      ['people', 'search_name'],
      ['holons', `search_name || E'\\n' || search_description collate "C"`],
    ]) {
      this.addSql(`create index ${table}__listed__long_grams on directory.${table} using gin (directory.long_grams(${texts}))`);
    }
  }
}
