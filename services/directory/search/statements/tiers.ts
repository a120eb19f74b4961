/**
 * Ranked search (rules/people#search; D42) by tiers. Each tier reads its best rows in result order from its own index,
 * and only if better tiers have not filled the result.
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import {
  bodyRow,
  containsSql,
  foldedSql,
  gramsOf,
  literalSql,
  nameInAnyOrderSql,
  nameWordStartSql,
  rowContainsSql,
  wordStartSql,
} from '../../lists/index.ts';
import {
  fieldsSql,
  resultsSql,
  scoresSql,
  type SearchParams,
  type SearchKind,
  searchKinds,
  searchParams,
} from './shared.ts';

const unionAll = sql` union all `;
const tierNames = ['exact', 'start', 'word', 'part', 'description'] as const;
type TierName = (typeof tierNames)[number];

/** Whether a short text is in many names or channels of a kind, and whether it is in many descriptions. */
interface InMany {
  readonly texts: SqlPart;
  readonly descriptions: SqlPart;
}

/** Returns the SQL conditions of a tier, by row fields and by channels. */
function rowsSql({ table, from, visible }: SearchKind) {
  return {
    byFields: (tier: number, field: Sql, condition: Sql, most: Sql): Sql =>
      sql`(select r.id, ${tier} as tier, ${field} as field from ${from(sql.empty)} where ${condition} and ${visible}
      order by r.search_name, r.id limit ${most})`,
    byChannels: (tier: number, condition: Sql, most: Sql): Sql =>
      sql`(select v.owner_id as id, ${tier} as tier, 2 as field
      from (select distinct v.search_name, v.owner_id from ${sql.id(`directory.${table}_channel_values`)} v where ${condition}) as v
      join ${from(sql`on r.id = v.owner_id`)} where ${visible} order by v.search_name, v.owner_id limit ${most})`,
  };
}

/** Returns the CTEs of a tier. They are read only while better tiers have not filled the result. */
function tierCtes({ kind }: SearchKind, { text, limit, kinds }: SearchParams) {
  const cte = (name: string): Sql => sql.id(`${kind}_${name}`);
  const query = sql`${sql.literal(kind)} = any(${kinds}) and ${foldedSql(text)} <> ''`;
  const foundIn = (tiers: readonly TierName[]): Sql =>
    sql`from (${sql.join(
      tiers.map((name) => sql`select id from ${cte(name)}`),
      unionAll,
    )}) as found`;
  const tier = (name: TierName, condition: Sql, rows: Sql): Sql =>
    sql`${cte(name)} as materialized (select * from (${rows}) as hits where ${condition})`;
  return {
    cte,
    first: (name: TierName, rows: Sql): Sql => tier(name, query, rows),
    second: (name: TierName, rows: Sql): Sql =>
      tier(name, sql`${query} and (select count(distinct id) ${foundIn(['exact'])}) < ${limit}`, rows),
    /**
     * A tier that is read in one order stops after the limit plus the number of better matches, since only better
     * matches can be duplicates.
     */
    later: (name: TierName, rows: Sql): Sql => {
      const better = foundIn(tierNames.slice(0, tierNames.indexOf(name)));
      return tier(
        name,
        sql`${query} limit (select case when count(distinct id) < ${limit} then ${limit} + count(distinct id) else 0 end ${better})`,
        rows,
      );
    },
  };
}

/** Returns the CTEs of one kind. The last CTE, `<kind>_best`, contains its results. */
function kindSql(searched: SearchKind, query: SearchParams, inMany: InMany): Sql {
  const { kind, from, item } = searched;
  const { text, limit } = query;
  const { cte, first, second, later } = tierCtes(searched, query);
  const { byFields, byChannels } = rowsSql(searched);
  // A row can match several tiers. Better tiers contain fewer rows than the limit, so twice the limit is enough.
  const [materialized, twice] = [sql`${limit}`, sql`2 * ${limit}`];
  const start = sql`${literalSql(text)} || '%'`;
  const field = (condition: Sql): Sql => sql`case when ${condition} then 1 else 2 end`;
  // Only texts of a minimum length are compared with addresses, since shorter texts match the start of too many
  // channels.
  const isAddress = sql`(strpos(${text}, '@') > 0 or char_length(directory.phone_digits(${foldedSql(text)})) >= 5)`;
  const byAddress = searched
    .addresses(text)
    .map((begins) => byFields(2, sql`2`, sql`${isAddress} and ${begins}`, twice));
  const exactChannel = sql`v.value = left(${foldedSql(text)}, 500)`;
  const channelStart = sql`v.value like ${start} and (char_length(${foldedSql(text)}) < 2 or left(v.value, 2) = left(${foldedSql(text)}, 2))`;
  const inName = field(sql`(strpos(r.search_name, ${foldedSql(text)}) > 0 or ${nameInAnyOrderSql('r', text)})`);
  const inDescription = containsSql(sql`r.search_description`, text, gramsOf('r'), inMany.descriptions);
  return sql.join(
    [
      first(
        'exact',
        sql`${byFields(1, sql`1`, sql`r.search_name = ${foldedSql(text)}`, materialized)} union all ${byChannels(1, exactChannel, materialized)}`,
      ),
      second(
        'start',
        sql.join(
          [
            byFields(2, sql`1`, sql`r.search_name like ${start}`, twice),
            byChannels(2, channelStart, twice),
            ...byAddress,
          ],
          unionAll,
        ),
      ),
      later('word', byFields(3, field(nameWordStartSql('r', text)), wordStartSql('r', text), twice)),
      later('part', byFields(4, inName, rowContainsSql('r', text, inMany.texts), twice)),
      later('description', byFields(5, sql`3`, inDescription, twice)),
      sql`${cte('hits')} as (select distinct on (id) * from (${sql.join(
        tierNames.map((name) => sql`select * from ${cte(name)}`),
        unionAll,
      )}) as hits order by id, tier, field)`,
      sql`${cte('best')} as (
       select h.tier, r.search_name, r.id, ${sql.literal(kind)} as kind, json_build_object('kind', ${sql.literal(kind)}, 'id', r.id,
         'score', (${scoresSql})[h.tier], 'matched_field', (${fieldsSql})[h.field], ${sql.literal(kind)}, ${item}) as item
       from ${cte('hits')} h join ${from(sql`on r.id = h.id`)}
       order by h.tier, r.search_name, r.id limit ${limit})`,
    ],
    sql`,
`,
  );
}

/**
 * Four values: whether a short text is in many names or channels of people, descriptions of people, names or channels
 * of holons, descriptions of holons.
 */
const frequentParams = {
  inManyPeople: t.boolean,
  inManyPeopleDescriptions: t.boolean,
  inManyHolons: t.boolean,
  inManyHolonDescriptions: t.boolean,
};

export const searchTiers = statement.one({
  name: 'v1.search',
  planned: 'each-call',
  params: { ...searchParams, ...frequentParams },
  row: bodyRow,
  sql: (query) => {
    const { person, holon } = searchKinds(query);
    const people = kindSql(person, query, { texts: query.inManyPeople, descriptions: query.inManyPeopleDescriptions });
    const holons = kindSql(holon, query, { texts: query.inManyHolons, descriptions: query.inManyHolonDescriptions });
    return sql`with ${people},
${holons} ${resultsSql(query)}`;
  },
});
