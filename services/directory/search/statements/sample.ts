/** What search asks before it chooses its statement: whether many rows contain the longest word of the text, a short text itself (docs/performance-notes.md#substring-search). */
import { type Sql, sql, statement, t } from '#libs/sql';
import { sampledSql } from '../../short-text.ts';
import { foldedSql } from '../../text-match.ts';

/** A text is frequent in a table when one in 200 of the rows, and 50 rows, contain it. Fewer are ranked in memory. A sample without a row has none. */
const leastShareSql = (table: 'people' | 'holons'): Sql => sql`(select greatest(0.005, 50 / greatest(1, reltuples)) as share
      from pg_class where oid = ${sql.literal(`directory.${table}`)}::regclass) as least_share`;

const frequentSql = (column: Sql): Sql =>
  sql`count(*) filter (where strpos(r.${column}, (select text from asked)) > 0) > count(*) * coalesce(max(share), 1)`;

const flagsSql = (table: 'people' | 'holons'): Sql => sql`
  (select ${frequentSql(sql`search_text`)} as text, ${frequentSql(sql`search_description`)} as description
    from ${sampledSql(table)}, ${leastShareSql(table)}) as ${sql.id(table)}`;

/** A text longer than a channel value is kept for is not `rare`: only tiers find it by the start. */
export const sampleSearch = statement.one({
  name: 'v1.search.sample',
  planned: 'once',
  params: { text: t.text },
  row: {
    /** In many names or channels of people, in many of their descriptions, in many of holons, of their descriptions. */
    frequent: t.boolean.array,
    /** The longest word has five characters and more, and is in few rows of either kind: `rare.ts` finds the text. */
    rare: t.boolean,
  },
  sql: ({ text }) => sql`
    with folded as materialized (select ${foldedSql(text)} as text),
     asked as materialized (select directory.sought_word(text) as text from folded),
     sampled as (select array[people.text, people.description, holons.text, holons.description] as frequent from ${flagsSql('people')}, ${flagsSql('holons')})
   select frequent, directory.words(folded.text) ~ '[^ ]{5}' and char_length(folded.text) <= 500 and not true = any(frequent) as rare from sampled, asked, folded`,
});
