/**
 * Whether a text of one or two characters is in many rows or in few: the index of short grams is right for few, and for many the rows are
 * read in their order until the page is full. Nothing else tells the planner, so a sample is asked first.
 */
import { statement, type Queryable } from '#libs/orm';
import { foldedSql } from './text-match.ts';

/** Places of a table that are read, whatever its size: the same ones each time, so that they stay in memory. */
const [samplePages, rowsOfPage] = [64, 6];
/** Share of the rows from which on a text is frequent. */
const frequentShare = 0.01;

export interface ShortTextRow {
  /** Contained in many names, in many names or channels, in many descriptions. */
  readonly name: boolean;
  readonly text: boolean;
  readonly description: boolean;
}

const flag = (column: string): string =>
  `count(*) filter (where strpos(r.${column}, ${foldedSql('$1')}) > 0) > count(*) * ${frequentShare}`;
/** Some rows of a table, as `r`. */
export const sampled = (table: 'people' | 'holons'): string => `(select r.* from directory.${table} r where r.ctid = any(array(
  select format('(%s,%s)', page * blocks / ${samplePages}, place)::tid
  from (select pg_relation_size('directory.${table}') / current_setting('block_size')::bigint as blocks) as size,
    generate_series(0, ${samplePages - 1}) as page, generate_series(1, ${rowsOfPage}) as place))) as r`;

const sample = (table: 'people' | 'holons') =>
  statement(
    `v1.${table}.sample`,
    `select ${flag('search_name')} as name, ${flag('search_text')} as text, ${flag('search_description')} as description
     from ${sampled(table)}`,
  );

/** `$1` = text; one row. */
const sampleText = { people: sample('people'), holons: sample('holons') };

/** Two characters may be typed as more: accents of their own, letters of two units. */
const maxShortLength = 4;

/** Whether a text that is too short for trigrams is in many rows; of a longer one the planner knows. */
export async function sampleShort(db: Queryable, table: keyof typeof sampleText, text: string): Promise<ShortTextRow> {
  const [row] = text === '' || text.length > maxShortLength ? [] : await db.query<ShortTextRow>(sampleText[table], [text]);
  return row ?? { name: false, text: false, description: false };
}
