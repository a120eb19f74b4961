/**
 * What both search strategies share: kinds, parameters, reply body, and the sample that chooses between them
 * (rules/people#search; D42).
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
import { personListItemSql } from '../../api-objects/index.ts';
import { foldedSql, sampledSql } from '../../lists/index.ts';
import { startsOfAddressesSql } from '../../person-rows/index.ts';
import { holonListItemSql, holonVisibleSql, viewerParams, type ViewerSql } from '../../visibility/index.ts';

/** `limit`: results per kind. */
export const searchParams = { text: t.text, limit: t.integer, kinds: t.text.array, ...viewerParams };
export type SearchParams = Readonly<Record<keyof typeof searchParams, SqlPart>>;

/** A kind of search results. */
export interface SearchKind {
  readonly kind: 'person' | 'holon';
  readonly table: 'people' | 'holons';
  /** Visible rows as `r`; `on` joins them to the preceding tables. */
  readonly from: (on: Sql) => Sql;
  readonly visible: Sql;
  /** Conditions for rows whose address starts with the text, in any notation. */
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
/** Matched fields; the first wins within a tier. */
export const fieldsSql = sql`array['name', 'channel', 'description']`;

/** Reply body from the CTEs `<kind>_best`. */
export const resultsSql = ({ text, limit, kinds }: SearchParams): Sql => sql`
  select json_build_object('query', ${text}, 'types', to_json(${kinds}), 'limit_per_type', ${limit}, 'count', count(*),
     'items', coalesce(json_agg(item order by tier, search_name, id, kind), '[]'))::text as body
   from (select * from person_best union all select * from holon_best) as results`;

/** A text is frequent if 1 in 200 rows, and at least 50 rows, contain it; fewer rows are ranked in memory. */
const leastShareSql = (
  table: 'people' | 'holons',
): Sql => sql`(select greatest(0.005, 50 / greatest(1, reltuples)) as share
      from pg_class where oid = ${sql.literal(`directory.${table}`)}::regclass) as least_share`;

const frequentSql = (column: Sql): Sql =>
  sql`count(*) filter (where strpos(r.${column}, (select text from query)) > 0) > count(*) * coalesce(max(share), 1)`;

const flagsSql = (table: 'people' | 'holons'): Sql => sql`
  (select ${frequentSql(sql`search_text`)} as text, ${frequentSql(sql`search_description`)} as description
    from ${sampledSql(table)}, ${leastShareSql(table)}) as ${sql.id(table)}`;

/** Texts longer than stored channel values are never `rare`: only tiers find them by their start. */
export const sampleSearch = statement.one({
  name: 'v1.search.sample',
  planned: 'once',
  params: { text: t.text },
  row: {
    /** Whether the text is in many names or channels of people, descriptions of people, and the same for holons. */
    frequent: t.boolean.array,
    /** The longest word has at least five characters and is rare in both kinds: use `rare.ts`. */
    rare: t.boolean,
  },
  sql: ({ text }) => sql`
    with folded as materialized (select ${foldedSql(text)} as text),
     query as materialized (select directory.sought_word(text) as text from folded),
     sampled as (select array[people.text, people.description, holons.text, holons.description] as frequent from ${flagsSql('people')}, ${flagsSql('holons')})
   select frequent, directory.words(folded.text) ~ '[^ ]{5}' and char_length(folded.text) <= 500 and not true = any(frequent) as rare from sampled, query, folded`,
});
