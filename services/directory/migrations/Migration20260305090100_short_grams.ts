import { Migration } from '#libs/orm/migrations';

/** The same grams as before in less than half the time: every write of a person or holon computes them. */
export class Migration20260305090100_short_grams extends Migration {
  override up(): void {
    this.addSql(`create or replace function directory.short_grams(input text) returns text[]
      language plpgsql immutable strict parallel safe cost 5000 as $$
      declare
        characters text[] := string_to_array(input, null);
      begin
        return array(
          select distinct gram from (
            select unnest(characters) as gram
            union all select pair.first || pair.second from unnest(characters, characters[2:]) as pair(first, second) where pair.second is not null
          ) as grams);
      end $$`);
  }
}
