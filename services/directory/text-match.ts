/**
 * SQL of comparing text as search does: case and accents do not count, `%` and `_` are themselves (D42, D47). Columns are the folded ones
 * of the tables. Words of three characters and more are found by trigrams; shorter texts have none and are found by the index of short grams, their
 * comparison written so that no trigram index is tried. The text is known when the statement is planned, so only one case is left
 * in the plan: statements with these conditions are planned for each call.
 */

/** The folded text of a parameter such as `$1`. */
export const foldedSql = (parameter: string): string => `directory.fold(${parameter}::text)`;
/** The same as a pattern of LIKE that means itself. */
export const literalSql = (parameter: string): string => `directory.like_literal(${foldedSql(parameter)})`;
/** Its words as a pattern of LIKE. */
const wordsSql = (parameter: string): string => `directory.like_literal(directory.words(${foldedSql(parameter)}))`;
/** The text has no trigrams. */
const isShortSql = (parameter: string): string => `char_length(btrim(directory.words(${foldedSql(parameter)}))) <= 2`;

/** All that search compares of a row. */
const searchedOf = (alias: string): string => `(${alias}.search_text || E'\\n' || ${alias}.search_description) collate "C"`;
/** What the index of short grams is built on, for an alias of people or holons; holds all that search compares. */
export const gramsOf = (alias: string): string => `directory.short_grams(${searchedOf(alias)})`;
/** What the indexes of long grams are built on: what the lists compare, and no more, or a part of every email would be in every row; and all that search compares. */
export const longGramsOf = {
  people: (alias: string): string => `directory.long_grams(${alias}.search_name)`,
  holons: (alias: string): string => `directory.long_grams(${alias}.search_name || E'\\n' || ${alias}.search_description collate "C")`,
  search: (alias: string): string => `directory.long_grams(${searchedOf(alias)})`,
} as const;
/** The same of journeys. */
export const journeyGramsOf = (alias: string): string => `directory.short_grams(${alias}.search_text)`;

/**
 * The column contains the text; every text contains the empty one.
 * @param frequent parameter that says that a short text is in many rows (`short-text.ts`); absent = it is in few
 */
export function containsSql(column: string, parameter: string, grams: string, frequent?: string): string {
  return caseOf(column, `${column} like '%' || ${literalSql(parameter)} || '%'`, parameter, grams, frequent);
}

/**
 * The same where all matches are read: of a text of several words the index is asked for the longest alone, since the short starts of words are
 * trigrams of very many rows, and of one with five characters and more for its long grams. Not for the first matches in an order: the planner
 * takes the one word for as frequent as the text. docs/adr/search-asks-for-one-word.md
 */
export function containsInAnySql(column: string, parameter: string, grams: string, longGrams: string): string {
  const word = `directory.sought_word(${foldedSql(parameter)})`;
  const hasLong = `char_length(${word}) >= 5`;
  const long = `((${hasLong} and ${longGrams} @> directory.covering_grams(${word}))
      or (not ${hasLong} and ${column} like '%' || directory.like_literal(${word}) || '%'))
    and strpos(${column}, ${foldedSql(parameter)}) > 0`;
  return caseOf(column, long, parameter, grams);
}

/** The row's name or channels contain the text. Words are compared first, where what is between them counts as one space. */
export function rowContainsSql(alias: string, parameter: string, frequent: string): string {
  const column = `${alias}.search_text`;
  const long = `${alias}.search_words like '%' || ${wordsSql(parameter)} || '%' and strpos(${column}, ${foldedSql(parameter)}) > 0`;
  return caseOf(column, long, parameter, gramsOf(alias), frequent);
}

/** A word of the row's name or channels begins with the text: a start of two characters is trigrams already. No word begins with a sign. */
export function wordStartSql(alias: string, parameter: string): string {
  return `directory.words(${foldedSql(parameter)}) not like ' %' and ${alias}.search_words like '% ' || ${wordsSql(parameter)} || '%' and strpos(${alias}.search_text, ${foldedSql(parameter)}) > 0`;
}

/** The same of the name alone, for rows that are known. */
export function nameWordStartSql(alias: string, parameter: string): string {
  const words = `directory.words(' ' || ${alias}.search_name)`;
  return `${words} like '% ' || ${wordsSql(parameter)} || '%' and strpos(${alias}.search_name, ${foldedSql(parameter)}) > 0`;
}

function caseOf(column: string, long: string, parameter: string, grams: string, frequent = 'false'): string {
  const text = foldedSql(parameter);
  const short = `${isShortSql(parameter)} and ${text} <> ''`;
  return `(${text} = ''
    or (not ${isShortSql(parameter)} and ${long})
    or (${short} and ${frequent} and strpos(${column}, ${text}) > 0)
    or (${short} and not ${frequent} and ${grams} @> array[left(${text}, 2)] and strpos(${column}, ${text}) > 0))`;
}
