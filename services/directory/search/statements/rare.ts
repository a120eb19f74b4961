/**
 * Ranked search (rules/people#search; D42) for texts whose longest word has at least five characters and is rare. It
 * finds all matches by grams of that word and ranks them in memory. The result is the same as in `tiers.ts`.
 * docs/performance-notes.md#substring-search
 */
import { type Sql, sql, type SqlPart, statement } from '#libs/infrastructure/sql';
import { bodyRow, foldedSql, longGramsOf } from '../../lists/index.ts';
import {
  fieldsSql,
  resultsSql,
  scoresSql,
  type SearchParams,
  type SearchKind,
  searchKinds,
  searchParams,
} from './shared.ts';

/**
 * Returns the SQL of the normalized text. It is computed once, because the plan does not depend on it. `word_start` is
 * null if no word can start with the text.
 */
const querySql = (text: SqlPart): Sql => sql`
  query as materialized (select text, directory.like_literal(text) || '%' as start, directory.covering_grams(directory.sought_word(text)) as grams,
    btrim(text) like '% %' as is_several,
    case when words not like ' %' then '% ' || directory.like_literal(words) || '%' end as word_start
  from (select ${foldedSql(text)} as text offset 0) as folded, lateral (select directory.words(text) as words offset 0) as split)`;
const of = (column: string): Sql => sql`(select ${sql.id(column)} from query)`;
const contains = (column: string): Sql => sql`strpos(${sql.id(column)}, ${of('text')}) > 0`;

/** Returns SQL that tests whether each word of a text of several words starts a word of the column. */
const inAnyOrder = (column: Sql, words: Sql): Sql =>
  sql`(${of('is_several')} and directory.has_words(${column}, ${words}, ${of('text')}))`;

/** Returns the SQL of a match's tier and field as one number, e.g. 42. The lowest number is best. */
function rankSql(table: SearchKind['table']): Sql {
  // Each value is a separate line, so this condition finds rows with a value that starts with the text.
  const channel = sql`case when strpos(r.search_text, E'\\n' || ${of('text')}) > 0 then (
    select min(case when v.value = ${of('text')} then 12 else 22 end)
    from ${sql.id(`directory.${table}_channel_values`)} v where v.owner_id = r.id and v.value like ${of('start')}) end`;
  return sql`case
    when not ${contains('r.search_text')} then case when not ${inAnyOrder(sql`r.search_text`, sql`r.search_words`)} then 53
      when ${inAnyOrder(sql`r.search_name`, sql`directory.words(' ' || r.search_name)`)} then 41 else 42 end
    else least(
      case when r.search_name = ${of('text')} then 11 when r.search_name like ${of('start')} then 21 end, ${channel},
      case when r.search_words like ${of('word_start')}
        then case when directory.words(' ' || r.search_name) like ${of('word_start')} and ${contains('r.search_name')} then 31 else 32 end
        else case when ${contains('r.search_name')} then 41 else 42 end end) end`;
}

/** Returns the CTEs of one kind. `<kind>_best` contains its results. */
function kindSql({ kind, table, from, visible, item }: SearchKind, { limit, kinds }: SearchParams): Sql {
  const [found, best, name] = [sql.id(`${kind}_found`), sql.id(`${kind}_best`), sql.literal(kind)];
  return sql`${found} as materialized (select r.id, r.search_name, ${rankSql(table)} as rank from ${from(sql.empty)}
      where ${name} = any(${kinds}) and ${longGramsOf.search('r')} @> ${of('grams')}
        and (${contains('r.search_text')} or ${contains('r.search_description')} or ${inAnyOrder(sql`r.search_text`, sql`r.search_words`)}) and ${visible}),
    ${best} as (select h.rank / 10 as tier, h.search_name, h.id, ${name} as kind, json_build_object('kind', ${name}, 'id', h.id,
        'score', (${scoresSql})[h.rank / 10], 'matched_field', (${fieldsSql})[h.rank % 10], ${name}, ${item}) as item
      from (select * from ${found} order by rank / 10, search_name, id limit ${limit}) as h join ${from(sql`on r.id = h.id`)})`;
}

export const searchRare = statement.one({
  name: 'v1.search.rare',
  planned: 'once',
  params: searchParams,
  row: bodyRow,
  sql: (query) => {
    const { person, holon } = searchKinds(query);
    return sql`with ${querySql(query.text)},
${kindSql(person, query)},
${kindSql(holon, query)} ${resultsSql(query)}`;
  },
});
