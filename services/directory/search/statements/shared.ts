/**
 * Definitions that both search strategies share: kinds, parameters, reply body, and the sample that chooses the
 * strategy (rules/people#search; D42).
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { personListItemSql } from '../../api-objects/index.ts';
import { foldedSql, sampledSql } from '../../lists/index.ts';
import { startsOfAddressesSql } from '../../person-rows/index.ts';
import { holonListItemSql, holonVisibleSql, viewerParams, type ViewerSql } from '../../visibility/index.ts';

/** Search parameters; `limit` is the number of results per kind. */
export const searchParams = { text: t.text, limit: t.integer, kinds: t.text.array, ...viewerParams };
export type SearchParams = Readonly<Record<keyof typeof searchParams, SqlPart>>;

/** A kind of search results: people or holons. */
export interface SearchKind {
  readonly kind: 'person' | 'holon';
  readonly table: 'people' | 'holons';
  /** Returns the SQL of the visible rows as `r`. `on` joins them to the preceding tables. */
  readonly from: (on: Sql) => Sql;
  readonly visible: Sql;
  /** Returns conditions for rows whose address starts with the text, in any notation. */
  readonly addresses: (text: SqlPart) => readonly Sql[];
  readonly item: Sql;
}

export function searchKinds(viewer: ViewerSql): { readonly person: SearchKind; readonly holon: SearchKind } {
  return {
    person: {
      kind: 'person',
      table: 'people',
      from: (on) => sql`directory.people r ${on}`,
      visible: sql`true`,
      addresses: (text) => startsOfAddressesSql('r', text),
      item: personListItemSql('r'),
    },
    holon: {
      kind: 'holon',
      table: 'holons',
      from: (on) => sql`directory.holons r ${on} join directory.object_classes c on c.id = r.class_id`,
      visible: holonVisibleSql('r', 'c', viewer),
      addresses: () => [],
      item: holonListItemSql('r', 'c', viewer),
    },
  };
}

/** Scores of the tiers, best first. */
export const scoresSql = sql`array[1, 0.8, 0.6, 0.4, 0.2]`;
/** Matched fields. Within a tier the first matching field determines the result. */
export const fieldsSql = sql`array['name', 'channel', 'description']`;

/** Builds the reply body from the CTEs `<kind>_best`. */
export const resultsSql = ({ text, limit, kinds }: SearchParams): Sql => sql`
  select json_build_object('query', ${text}, 'types', to_json(${kinds}), 'limit_per_type', ${limit}, 'count', count(*),
     'items', coalesce(json_agg(item order by tier, search_name, id, kind), '[]'))::text as body
   from (select * from person_best union all select * from holon_best) as results`;

/**
 * Returns SQL that tests whether a text is frequent: 1 in 200 rows, and at least 50 rows, contain it. Fewer rows are
 * ranked in memory.
 */
const leastShareSql = (
  table: 'people' | 'holons',
): Sql => sql`(select greatest(0.005, 50 / greatest(1, reltuples)) as share
      from pg_class where oid = ${sql.literal(`directory.${table}`)}::regclass) as least_share`;

const frequentSql = (column: Sql): Sql =>
  sql`count(*) filter (where strpos(r.${column}, (select text from query)) > 0) > count(*) * coalesce(max(share), 1)`;

const flagsSql = (table: 'people' | 'holons'): Sql => sql`
  (select ${frequentSql(sql`search_text`)} as text, ${frequentSql(sql`search_description`)} as description
    from ${sampledSql(table)}, ${leastShareSql(table)}) as ${sql.id(table)}`;

/**
 * Samples how frequent the text is. A text longer than stored channel values is never `rare`: only tiers compare the
 * start of the text with channel values.
 */
export const sampleSearch = statement.one({
  name: 'v1.search.sample',
  planned: 'once',
  params: { text: t.text },
  row: {
    /**
     * Four values: whether the text is in many names or channels of people, descriptions of people, names or channels
     * of holons, descriptions of holons.
     */
    frequent: t.boolean.array,
    /** Whether to use `rare.ts`: the longest word has at least five characters and is rare in both kinds. */
    rare: t.boolean,
  },
  sql: ({ text }) => sql`
    with folded as materialized (select ${foldedSql(text)} as text),
     query as materialized (select directory.sought_word(text) as text from folded),
     sampled as (select array[people.text, people.description, holons.text, holons.description] as frequent from ${flagsSql('people')}, ${flagsSql('holons')})
   select frequent, directory.words(folded.text) ~ '[^ ]{5}' and char_length(folded.text) <= 500 and not true = any(frequent) as rare from sampled, query, folded`,
});
