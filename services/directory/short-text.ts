/**
 * Whether a text of one or two characters is in many rows or in few: the index of short grams is right for few, and for many the rows are
 * read in their order until the page is full. Nothing else tells the planner, so a sample is asked first.
 */
import { type Queryable, type Sql, sql, statement, t } from '#libs/sql';
import { foldedSql } from './text-match.ts';

/** Places of a table that are read, whatever its size: the same ones each time, so that they stay in memory. */
const [samplePages, rowsOfPage] = [64, 6];
/** Two characters may be typed as more: accents of their own, letters of two units. */
const maxShortLength = 4;

type SampledTable = 'people' | 'holons';

/** Some rows of a table, as `r`. */
export function sampledSql(table: SampledTable): Sql {
  const name = sql.id(`directory.${table}`);
  return sql`(select r.* from ${name} r where r.ctid = any(array(
  select format('(%s,%s)', page * blocks / ${samplePages}, place)::tid
  from (select pg_relation_size(${sql.literal(`directory.${table}`)}) / current_setting('block_size')::bigint as blocks) as size,
    generate_series(0, ${samplePages - 1}) as page, generate_series(1, ${rowsOfPage}) as place))) as r`;
}

/** From one in a hundred rows on, a text is frequent. */
const sample = (table: SampledTable) =>
  statement.one({
    name: `v1.${table}.sample`,
    params: { text: t.text },
    row: { name: t.boolean, text: t.boolean, description: t.boolean },
    sql: ({ text }) => {
      const isFrequent = (column: Sql): Sql => sql`count(*) filter (where strpos(r.${column}, ${foldedSql(text)}) > 0) > count(*) * 0.01`;
      return sql`select ${isFrequent(sql`search_name`)} as name, ${isFrequent(sql`search_text`)} as text,
        ${isFrequent(sql`search_description`)} as description
     from ${sampledSql(table)}`;
    },
  });

export const samples = { people: sample('people'), holons: sample('holons') };

/** Whether many names, many names or channels, many descriptions contain a text that is too short for trigrams; of a longer one the planner knows. */
export async function sampleShort(
  db: Queryable,
  table: SampledTable,
  text: string,
): Promise<{ name: boolean; text: boolean; description: boolean }> {
  if (text === '' || text.length > maxShortLength) return { name: false, text: false, description: false };
  return samples[table](db, { text });
}
