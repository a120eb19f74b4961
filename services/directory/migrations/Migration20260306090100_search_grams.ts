import { Migration } from '#libs/orm/migrations';

/** Search finds a rare text by its pieces of five, and the feed of a holon reads who else a note concerns from an index alone. */
export class Migration20260306090100_search_grams extends Migration {
  override up(): void {
    // Every third piece of a text, and the last: together they cover it, and cost the index a third of all of them.
    this.addSql(`create function directory.covering_grams(input text) returns text[] language sql immutable strict parallel safe
      return array(select substr(input, place, 5) from generate_series(1, char_length(input) - 4) as place
        where place % 3 = 1 or place = char_length(input) - 4)`);
    for (const table of ['people', 'holons']) {
      this.addSql(`create index ${table}__search__long_grams on directory.${table}
        using gin (directory.long_grams(search_text || E'\\n' || search_description))`);
      // Its one statement is planned without values: statistics of the pieces would only make each analyze slow.
      this.addSql(`alter index directory.${table}__search__long_grams alter column 1 set statistics 0`);
    }
    this.addSql('create index holon_notes__note_id_holon_id__index on directory.holon_notes (note_id, holon_id)');
    this.addSql('drop index directory.holon_notes__note_id__index');
  }
}
