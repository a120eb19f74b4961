/** What search asks before it chooses its statement: whether many rows contain the longest word of the text, a short text itself (docs/adr/search-asks-for-one-word.md). */
import { statement } from '#libs/orm';
import { sampled } from '../../short-text.ts';
import { foldedSql } from '../../text-match.ts';

/** A text is frequent in a table when this share of the rows, and so many, contain it. Fewer are ranked in memory. */
const [frequentShare, frequentRows] = [0.005, 50];

export interface SearchSampleRow {
  /** The longest word has five characters and more, and is in few rows of either kind: `search-rare.ts` finds the text. */
  readonly rare: boolean;
  /** In many names or channels of people, in many of their descriptions, in many of holons, of their descriptions. */
  readonly frequent: boolean[];
}

const text = '(select text from asked)';
const fields = ['text', 'description'] as const;

const flags = (table: 'people' | 'holons'): string =>
  `(select ${fields.map((field) => `count(*) filter (where strpos(r.search_${field}, ${text}) > 0) > count(*) * max(share) as ${field}`).join(', ')}
    from ${sampled(table)}, (select greatest(${frequentShare}, ${frequentRows} / greatest(1, reltuples)) as share
      from pg_class where oid = 'directory.${table}'::regclass) as least_share) as ${table}`;

/** `$1` = text; one row. A text longer than a channel value is kept for is not `rare`: only tiers find it by the start. */
export const sampleSearch = statement(
  'v1.search.sample',
  `with folded as materialized (select ${foldedSql('$1')} as text),
     asked as materialized (select directory.sought_word(text) as text from folded),
     sampled as (select array[people.text, people.description, holons.text, holons.description] as frequent from ${flags('people')}, ${flags('holons')})
   select frequent, char_length(asked.text) >= 5 and char_length(folded.text) <= 500 and not true = any(frequent) as rare from sampled, asked, folded`,
  { planned: 'once' },
);
