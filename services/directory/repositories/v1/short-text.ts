/**
 * Whether a text of one or two characters is in many rows or in few: the index of short grams is right for few, and for many the rows are
 * read in their order until the page is full. Nothing else tells the planner, so a sample is asked first.
 */
import { statement } from '#libs/orm';
import { foldedSql } from './text-match.ts';

/** Pages of a table that are read, whatever its size; of a smaller one all. About a thousand rows: at the share asked for, ten of them. */
const samplePages = 60;
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

const sample = (table: 'people' | 'holons') =>
  statement(
    `v1.${table}.sample`,
    `select ${flag('search_name')} as name, ${flag('search_text')} as text, ${flag('search_description')} as description
     from directory.${table} r tablesample system
       (least(100, ${samplePages} * 100 * current_setting('block_size')::float8 / greatest(1, pg_relation_size('directory.${table}'))))`,
  );

/** `$1` = text; one row. */
export const sampleText = { people: sample('people'), holons: sample('holons') };
