import { Migration } from '#libs/orm/migrations';

/** What an index is asked for a text, and the holons of a class in each order (docs/performance-notes.md#substring-search). */
export class Migration20260305090200_search_terms extends Migration {
  override up(): void {
    // The longest word of a text, or the text when no word has three characters.
    this.addSql(`create function directory.sought_word(input text) returns text language sql immutable strict parallel safe
      return coalesce((select word from regexp_split_to_table(directory.words(input), ' ') with ordinality as found(word, place)
        where char_length(word) >= 3 order by char_length(word) desc, place limit 1), input)`);
    for (const column of ['created_at', 'updated_at']) {
      this.addSql(`create index holons__class_id_${column}__order on directory.holons (class_id, ${column} desc, id)`);
    }
  }
}
