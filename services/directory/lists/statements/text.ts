/**
 * Text comparison of search. It ignores case and accents, and `%` and `_` are literal (D42, D47). It compares the
 * folded columns: words of three and more characters use trigram indexes, shorter texts the short-gram index. Plan
 * these statements per call: the planner then sees the text and uses one branch.
 */
import { type Queryable, type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

/** Returns the SQL of a parameter's folded text. */
export const foldedSql = (text: SqlPart): Sql => sql`directory.fold(${text})`;
/** Returns the SQL of the folded text as a literal LIKE pattern. */
export const literalSql = (text: SqlPart): Sql => sql`directory.like_literal(${foldedSql(text)})`;
/** Returns the SQL of the text's words as a literal LIKE pattern. */
const wordsSql = (text: SqlPart): Sql => sql`directory.like_literal(directory.words(${foldedSql(text)}))`;
/** Returns SQL that tests whether the text is too short for trigrams. */
const isShortSql = (text: SqlPart): Sql => sql`char_length(btrim(directory.words(${foldedSql(text)}))) <= 2`;

/** Returns the SQL of all text of a row that search compares. */
const searchedOf = (row: Sql): Sql => sql`(${row}.search_text || E'\\n' || ${row}.search_description) collate "C"`;
/** Returns the expression of the short-gram index of people and holons. It covers all text that search compares. */
export const gramsOf = (alias: string): Sql => sql`directory.short_grams(${searchedOf(sql.id(alias))})`;
/**
 * Expressions of the long-gram indexes: one for lists, with only names and descriptions (a fragment of an email domain
 * would match every row), and one for search.
 */
export const longGramsOf = {
  people: (alias: string): Sql => sql`directory.long_grams(${sql.id(alias)}.search_name)`,
  holons: (alias: string): Sql =>
    sql`directory.long_grams(${sql.id(alias)}.search_name || E'\\n' || ${sql.id(alias)}.search_description collate "C")`,
  search: (alias: string): Sql => sql`directory.long_grams(${searchedOf(sql.id(alias))})`,
} as const;
/** Returns the expression of the short-gram index of journeys. */
export const journeyGramsOf = (alias: string): Sql => sql`directory.short_grams(${sql.id(alias)}.search_text)`;

/**
 * Returns SQL that tests whether the column contains the text. The test is always true for an empty text.
 * @param frequent whether a short text is in many rows (`sampleShort`); absent = in few
 */
export function containsSql(column: Sql, text: SqlPart, grams: Sql, frequent?: SqlPart): Sql {
  return caseOf(column, sql`${column} like '%' || ${literalSql(text)} || '%'`, text, grams, frequent);
}

/**
 * Returns the same test as `containsSql`, for statements that read all matches. It uses the index only for the longest
 * word, and long grams from five characters on, because short words match too many rows. Do not use it for the first
 * matches in an order: the planner assumes that the text is as frequent as the word.
 * docs/performance-notes.md#substring-search
 */
export function containsInAnySql(column: Sql, text: SqlPart, grams: Sql, longGrams: Sql): Sql {
  const word = sql`directory.sought_word(${foldedSql(text)})`;
  const hasLong = sql`char_length(${word}) >= 5`;
  const long = sql`((${hasLong} and ${longGrams} @> directory.covering_grams(${word}))
      or (not ${hasLong} and ${column} like '%' || directory.like_literal(${word}) || '%'))
    and strpos(${column}, ${foldedSql(text)}) > 0`;
  return caseOf(column, long, text, grams);
}

/** Returns the same test as `containsInAnySql` for names of people, whose words can be in any order. */
export function nameInAnySql(alias: string, text: SqlPart): Sql {
  const name = sql`${sql.id(alias)}.search_name`;
  const [folded, grams] = [foldedSql(text), gramsOf(alias)];
  const words = sql`btrim(directory.words(${folded}))`;
  const word = sql`directory.sought_word(${folded})`;
  const inAnyOrder = nameInAnyOrderSql(alias, text);
  const hasWord = sql`((char_length(${word}) >= 5 and ${longGramsOf.people(alias)} @> directory.covering_grams(${word}))
      or (char_length(${word}) < 5 and ${name} like '%' || directory.like_literal(${word}) || '%'))`;
  // Names of two-character words (e.g. Chinese) are found by words: each word is a gram.
  const long = sql`((${hasWord} and (strpos(${name}, ${folded}) > 0 or ${inAnyOrder}))
      or (${words} !~ '[^ ]{3}' and ${grams} @> string_to_array(${words}, ' ') and ${inAnyOrder}))`;
  return caseOf(name, long, text, grams);
}

/**
 * Returns SQL that tests whether each word of the text starts a word of the column, in any order. It applies only to
 * texts of several words.
 * @param words words of the column, by `directory.words`
 */
export const wordsInAnyOrderSql = (column: Sql, words: Sql, text: SqlPart): Sql =>
  sql`(btrim(${foldedSql(text)}) like '% %' and directory.has_words(${column}, ${words}, ${foldedSql(text)}))`;
/** Returns the same test as `wordsInAnyOrderSql`, for the name. */
export const nameInAnyOrderSql = (alias: string, text: SqlPart): Sql => {
  const name = sql`${sql.id(alias)}.search_name`;
  return wordsInAnyOrderSql(name, sql`directory.words(' ' || ${name})`, text);
};

/** Returns the same test as `wordsInAnyOrderSql`, for name and channels, with an index look-up of the longest words. */
function wordsOfRowSql(row: Sql, text: SqlPart): Sql {
  const patterns = [1, 2, 3].map(
    (rank) => sql`${row}.search_words like directory.word_pattern(${foldedSql(text)}, ${rank})`,
  );
  return sql`(${sql.join(patterns, sql` and `)} and ${wordsInAnyOrderSql(sql`${row}.search_text`, sql`${row}.search_words`, text)})`;
}

/**
 * Returns SQL that tests whether name or channels contain the text or each of its words. Words are compared first,
 * because separators count as one space there.
 */
export function rowContainsSql(alias: string, text: SqlPart, frequent: SqlPart): Sql {
  const row = sql.id(alias);
  const column = sql`${row}.search_text`;
  const long = sql`${row}.search_words like '%' || ${wordsSql(text)} || '%' and strpos(${column}, ${foldedSql(text)}) > 0`;
  return sql`(${caseOf(column, long, text, gramsOf(alias), frequent)} or ${wordsOfRowSql(row, text)})`;
}

/**
 * Returns SQL that tests whether a word of name or channels starts with the text. Two characters already form trigrams.
 * Words never start with punctuation.
 */
export function wordStartSql(alias: string, text: SqlPart): Sql {
  const row = sql.id(alias);
  return sql`directory.words(${foldedSql(text)}) not like ' %' and ${row}.search_words like '% ' || ${wordsSql(text)} || '%' and strpos(${row}.search_text, ${foldedSql(text)}) > 0`;
}

/** Returns the same test as `wordStartSql`, for the names of rows that are already selected. */
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

/** Number of sampled pages and rows per page. Sample positions are fixed, so that their pages remain cached. */
const [samplePages, rowsOfPage] = [64, 6];
/** Maximum length of a short text in code units: two visible characters can be up to four code units. */
const maxShortLength = 4;

type SampledTable = 'people' | 'holons';

/** Returns the SQL of a table's sample rows, as `r`. */
export function sampledSql(table: SampledTable): Sql {
  const name = sql.id(`directory.${table}`);
  return sql`(select r.* from ${name} r where r.ctid = any(array(
  select format('(%s,%s)', page * blocks / ${samplePages}, place)::tid
  from (select pg_relation_size(${sql.literal(`directory.${table}`)}) / current_setting('block_size')::bigint as blocks) as size,
    generate_series(0, ${samplePages - 1}) as page, generate_series(1, ${rowsOfPage}) as place))) as r`;
}

/** Counts the sampled rows that contain a text. A text is frequent if at least 1 % of them do. */
const sample = (table: SampledTable) =>
  statement.one({
    name: `v1.${table}.sample`,
    params: { text: t.text },
    row: { name: t.boolean, text: t.boolean, description: t.boolean },
    sql: ({ text }) => {
      const isFrequent = (column: Sql): Sql =>
        sql`count(*) filter (where strpos(r.${column}, ${foldedSql(text)}) > 0) > count(*) * 0.01`;
      return sql`select ${isFrequent(sql`search_name`)} as name, ${isFrequent(sql`search_text`)} as text,
        ${isFrequent(sql`search_description`)} as description
     from ${sampledSql(table)}`;
    },
  });

export const samples = { people: sample('people'), holons: sample('holons') };

/**
 * Samples how frequent a short text is in names, in names or channels, and in descriptions. For longer texts the
 * planner's statistics suffice.
 */
export async function sampleShort(
  db: Queryable,
  table: SampledTable,
  text: string,
): Promise<{ name: boolean; text: boolean; description: boolean }> {
  if (text === '' || text.length > maxShortLength) return { name: false, text: false, description: false };
  return samples[table](db, { text });
}
