/**
 * Ranked search (rules/people#search; D42). Each tier is a stream of its best rows in the order of the answer, from an index of its own,
 * and a tier is read only while those before it have not filled the answer: nothing is ranked that is not returned.
 */
import { statement } from '#libs/orm';
import { holonListItemSql, personListItemSql } from '../../public-json.ts';
import { holonVisibleSql } from '../../visibility.ts';
import { containsSql, foldedSql, gramsOf, literalSql, nameWordStartSql, rowContainsSql, wordStartSql } from '../../text-match.ts';

/** What is searched. */
export interface Kind {
  readonly kind: 'person' | 'holon';
  readonly table: 'people' | 'holons';
  /** Rows that the caller may see, as `r`. */
  readonly from: string;
  readonly visible: string;
  readonly item: string;
  /** Parameters that say that a short text is in many names or channels, or descriptions. */
  readonly inManyTexts: string;
  readonly inManyDescriptions: string;
}

const viewer = 4;
const [text, limit, kinds] = ['$1', '$2::integer', '$3::text[]'] as const;
/** Tiers from the best to the last. */
export const scores = [1, 0.8, 0.6, 0.4, 0.2];
/** What matched, the first of two that match in one tier. */
export const fields = ['name', 'channel', 'description'];

export const searched: readonly Kind[] = [
  {
    kind: 'person',
    table: 'people',
    from: 'directory.people r',
    visible: 'true',
    item: personListItemSql('r'),
    inManyTexts: '$6::boolean',
    inManyDescriptions: '$7::boolean',
  },
  {
    kind: 'holon',
    table: 'holons',
    from: 'directory.holons r join directory.object_classes c on c.id = r.class_id',
    visible: holonVisibleSql('r', 'c', viewer),
    item: holonListItemSql('r', 'c', viewer),
    inManyTexts: '$8::boolean',
    inManyDescriptions: '$9::boolean',
  },
];

/** The body, from the CTE `<kind>_best` of each kind. */
export const resultsSql = `select json_build_object('query', ${text}::text, 'types', to_json(${kinds}), 'limit_per_type', ${limit}, 'count', count(*),
     'items', coalesce(json_agg(item order by tier, search_name, id, kind), '[]'))::text as body
   from (${searched.map(({ kind }) => `select * from ${kind}_best`).join(' union all ')}) as results`;

/** CTEs of one kind; the last, `<kind>_best`, has its results. */
function describeKind({ kind, table, from, visible, item, inManyTexts, inManyDescriptions }: Kind): string {
  const rowsBy = (tier: number, field: string, condition: string, most: string): string =>
    `(select r.id, ${tier} as tier, ${field} as field from ${from} where ${condition} and ${visible}
      order by r.search_name, r.id limit ${most})`;
  const channelsBy = (tier: number, condition: string, most: string): string =>
    `(select v.owner_id as id, ${tier} as tier, 2 as field
      from (select distinct v.search_name, v.owner_id from directory.${table}_channel_values v where ${condition}) as v
      join ${from.replace(' r', ' r on r.id = v.owner_id')} where ${visible} order by v.search_name, v.owner_id limit ${most})`;
  // A row may be a hit of several tiers. Fewer than the limit are in better ones whenever a tier is read, so twice the limit is enough.
  const twice = `2 * ${limit}`;
  const asked = `'${kind}' = any(${kinds}) and ${foldedSql(text)} <> ''`;
  const found = (...before: string[]): string =>
    `from (${before.map((name) => `select id from ${kind}_${name}`).join(' union all ')}) as found`;
  const tier = (name: string, condition: string, rows: string): string =>
    `${kind}_${name} as materialized (select * from (${rows}) as hits where ${condition})`;
  /** A tier of one order stops earlier: after the limit and as many as the better tiers have, since no more of its rows are in those. */
  const laterTier = (name: string, before: readonly string[], rows: string): string =>
    tier(
      name,
      `${asked} limit (select case when count(distinct id) < ${limit} then ${limit} + count(distinct id) else 0 end ${found(...before)})`,
      rows,
    );
  const start = `${literalSql(text)} || '%'`;
  const field = (condition: string): string => `case when ${condition} then 1 else 2 end`;
  return [
    tier(
      'exact',
      asked,
      `${rowsBy(1, '1', `r.search_name = ${foldedSql(text)}`, limit)} union all ${channelsBy(1, `v.value = left(${foldedSql(text)}, 500)`, limit)}`,
    ),
    tier(
      'start',
      `${asked} and (select count(distinct id) ${found('exact')}) < ${limit}`,
      `${rowsBy(2, '1', `r.search_name like ${start}`, twice)} union all
       ${channelsBy(2, `v.value like ${start} and (char_length(${foldedSql(text)}) < 2 or left(v.value, 2) = left(${foldedSql(text)}, 2))`, twice)}`,
    ),
    laterTier('word', ['exact', 'start'], rowsBy(3, field(nameWordStartSql('r', text)), wordStartSql('r', text), twice)),
    laterTier(
      'part',
      ['exact', 'start', 'word'],
      rowsBy(4, field(`strpos(r.search_name, ${foldedSql(text)}) > 0`), rowContainsSql('r', text, inManyTexts), twice),
    ),
    laterTier(
      'description',
      ['exact', 'start', 'word', 'part'],
      rowsBy(5, '3', containsSql('r.search_description', text, gramsOf('r'), inManyDescriptions), twice),
    ),
    `${kind}_hits as (select distinct on (id) * from (${['exact', 'start', 'word', 'part', 'description']
      .map((name) => `select * from ${kind}_${name}`)
      .join(' union all ')}) as hits order by id, tier, field)`,
    `${kind}_best as (
       select h.tier, r.search_name, r.id, '${kind}' as kind, json_build_object('kind', '${kind}', 'id', r.id,
         'score', (array[${scores.join(', ')}])[h.tier], 'matched_field', (array['${fields.join("', '")}'])[h.field], '${kind}', ${item}) as item
       from ${kind}_hits h join ${from.replace(' r', ' r on r.id = h.id')}
       order by h.tier, r.search_name, r.id limit ${limit})`,
  ].join(',\n');
}

/** `$1` = text, `$2` = results of a kind, `$3` = kinds, `$4`, `$5` = viewer, `$6` to `$9` = a short text is in many texts, descriptions of people, of holons; one row. */
export const searchTiers = statement('v1.search', `with ${searched.map(describeKind).join(',\n')} ${resultsSql}`, {
  planned: 'each-call',
});
