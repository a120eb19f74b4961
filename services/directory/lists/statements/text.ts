/**
 * SQL of comparing text as search does: case and accents do not count, `%` and `_` are themselves (D42, D47). Columns are the folded ones
 * of the tables. Words of three characters and more are found by trigrams; shorter texts have none and are found by the index of short grams, their
 * comparison written so that no trigram index is tried. The text is known when the statement is planned, so only one case is left
 * in the plan: statements with these conditions are planned for each call.
 */
import { type Queryable, type Sql, sql, type SqlPart, statement, t } from '#libs/sql';

/** The folded text of a parameter. */
export const foldedSql = (text: SqlPart): Sql => sql`directory.fold(${text})`;
/** The same as a pattern of LIKE that means itself. */
export const literalSql = (text: SqlPart): Sql => sql`directory.like_literal(${foldedSql(text)})`;
/** Its words as a pattern of LIKE. */
const wordsSql = (text: SqlPart): Sql => sql`directory.like_literal(directory.words(${foldedSql(text)}))`;
/** The text has no trigrams. */
const isShortSql = (text: SqlPart): Sql => sql`char_length(btrim(directory.words(${foldedSql(text)}))) <= 2`;

/** All that search compares of a row. */
const searchedOf = (row: Sql): Sql => sql`(${row}.search_text || E'\\n' || ${row}.search_description) collate "C"`;
/** What the index of short grams is built on, for an alias of people or holons; holds all that search compares. */
export const gramsOf = (alias: string): Sql => sql`directory.short_grams(${searchedOf(sql.id(alias))})`;
/** What the indexes of long grams are built on: what the lists compare, and no more, or a part of every email would be in every row; and all that search compares. */
export const longGramsOf = {
  people: (alias: string): Sql => sql`directory.long_grams(${sql.id(alias)}.search_name)`,
  holons: (alias: string): Sql =>
    sql`directory.long_grams(${sql.id(alias)}.search_name || E'\\n' || ${sql.id(alias)}.search_description collate "C")`,
  search: (alias: string): Sql => sql`directory.long_grams(${searchedOf(sql.id(alias))})`,
} as const;
/** The same of journeys. */
export const journeyGramsOf = (alias: string): Sql => sql`directory.short_grams(${sql.id(alias)}.search_text)`;

/**
 * The column contains the text; every text contains the empty one.
 * @param frequent says that a short text is in many rows (`short-text.ts`); absent = it is in few
 */
export function containsSql(column: Sql, text: SqlPart, grams: Sql, frequent?: SqlPart): Sql {
  return caseOf(column, sql`${column} like '%' || ${literalSql(text)} || '%'`, text, grams, frequent);
}

/**
 * The same where all matches are read: of a text of several words the index is asked for the longest alone, since the short starts of words are
 * trigrams of very many rows, and of one with five characters and more for its long grams. Not for the first matches in an order: the planner
 * takes the one word for as frequent as the text. docs/performance-notes.md#substring-search
 */
export function containsInAnySql(column: Sql, text: SqlPart, grams: Sql, longGrams: Sql): Sql {
  const word = sql`directory.sought_word(${foldedSql(text)})`;
  const hasLong = sql`char_length(${word}) >= 5`;
  const long = sql`((${hasLong} and ${longGrams} @> directory.covering_grams(${word}))
      or (not ${hasLong} and ${column} like '%' || directory.like_literal(${word}) || '%'))
    and strpos(${column}, ${foldedSql(text)}) > 0`;
  return caseOf(column, long, text, grams);
}

/** The same of a person's name, which the text's words may stand in in any order. */
export function nameInAnySql(alias: string, text: SqlPart): Sql {
  const name = sql`${sql.id(alias)}.search_name`;
  const [folded, grams] = [foldedSql(text), gramsOf(alias)];
  const words = sql`btrim(directory.words(${folded}))`;
  const word = sql`directory.sought_word(${folded})`;
  const inAnyOrder = nameInAnyOrderSql(alias, text);
  const hasWord = sql`((char_length(${word}) >= 5 and ${longGramsOf.people(alias)} @> directory.covering_grams(${word}))
      or (char_length(${word}) < 5 and ${name} like '%' || directory.like_literal(${word}) || '%'))`;
  // Of words of two characters, such as those of many Chinese names, each is a gram.
  const long = sql`((${hasWord} and (strpos(${name}, ${folded}) > 0 or ${inAnyOrder}))
      or (${words} !~ '[^ ]{3}' and ${grams} @> string_to_array(${words}, ' ') and ${inAnyOrder}))`;
  return caseOf(name, long, text, grams);
}

/** Each word of the text begins a word of the column, in any order; a text of one word is not asked so. `words`: the column's, as `directory.words` gives them. */
export const wordsInAnyOrderSql = (column: Sql, words: Sql, text: SqlPart): Sql =>
  sql`(btrim(${foldedSql(text)}) like '% %' and directory.has_words(${column}, ${words}, ${foldedSql(text)}))`;
/** The same of the name alone. */
export const nameInAnyOrderSql = (alias: string, text: SqlPart): Sql => {
  const name = sql`${sql.id(alias)}.search_name`;
  return wordsInAnyOrderSql(name, sql`directory.words(' ' || ${name})`, text);
};

/** The same of a row's name and channels, where an index is asked for the longest words. */
function wordsOfRowSql(row: Sql, text: SqlPart): Sql {
  const patterns = [1, 2, 3].map((place) => sql`${row}.search_words like directory.word_pattern(${foldedSql(text)}, ${place})`);
  return sql`(${sql.join(patterns, sql` and `)} and ${wordsInAnyOrderSql(sql`${row}.search_text`, sql`${row}.search_words`, text)})`;
}

/** The row's name or channels contain the text, or each of its words. Words are compared first, where what is between them counts as one space. */
export function rowContainsSql(alias: string, text: SqlPart, frequent: SqlPart): Sql {
  const row = sql.id(alias);
  const column = sql`${row}.search_text`;
  const long = sql`${row}.search_words like '%' || ${wordsSql(text)} || '%' and strpos(${column}, ${foldedSql(text)}) > 0`;
  return sql`(${caseOf(column, long, text, gramsOf(alias), frequent)} or ${wordsOfRowSql(row, text)})`;
}

/** A word of the row's name or channels begins with the text: a start of two characters is trigrams already. No word begins with a sign. */
export function wordStartSql(alias: string, text: SqlPart): Sql {
  const row = sql.id(alias);
  return sql`directory.words(${foldedSql(text)}) not like ' %' and ${row}.search_words like '% ' || ${wordsSql(text)} || '%' and strpos(${row}.search_text, ${foldedSql(text)}) > 0`;
}

/** The same of the name alone, for rows that are known. */
export function nameWordStartSql(alias: string, text: SqlPart): Sql {
  const row = sql.id(alias);
  const words = sql`directory.words(' ' || ${row}.search_name)`;
  return sql`${words} like '% ' || ${wordsSql(text)} || '%' and strpos(${row}.search_name, ${foldedSql(text)}) > 0`;
}

function caseOf(column: Sql, long: Sql, parameter: SqlPart, grams: Sql, frequent: SqlPart = sql`false`): Sql {
  const text = foldedSql(parameter);
  const short = sql`${isShortSql(parameter)} and ${text} <> ''`;
  return sql`(${text} = ''
    or (not ${isShortSql(parameter)} and ${long})
    or (${short} and ${frequent} and strpos(${column}, ${text}) > 0)
    or (${short} and not ${frequent} and ${grams} @> array[left(${text}, 2)] and strpos(${column}, ${text}) > 0))`;
}

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
