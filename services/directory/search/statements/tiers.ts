/**
 * Ranked search (rules/people#search; D42). Each tier is a stream of its best rows in the order of the answer, from an index of its own,
 * and a tier is read only while those before it have not filled the answer: nothing is ranked that is not returned.
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
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
import { fieldsSql, resultsSql, scoresSql, type SearchAsked, type SearchKind, searchKinds, searchParams } from './shared.ts';

const unionAll = sql` union all `;
const tierNames = ['exact', 'start', 'word', 'part', 'description'] as const;
type TierName = (typeof tierNames)[number];

/** Whether a short text is in many names or channels of a kind, in many descriptions. */
interface InMany {
  readonly texts: SqlPart;
  readonly descriptions: SqlPart;
}

/** What makes the rows of a tier of one kind: by the fields of a row, and by its channels. */
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

/** CTEs that a tier is read by, while those before it have not filled the answer. */
function tierCtes({ kind }: SearchKind, { text, limit, kinds }: SearchAsked) {
  const cte = (name: string): Sql => sql.id(`${kind}_${name}`);
  const asked = sql`${sql.literal(kind)} = any(${kinds}) and ${foldedSql(text)} <> ''`;
  const foundIn = (tiers: readonly TierName[]): Sql =>
    sql`from (${sql.join(
      tiers.map((name) => sql`select id from ${cte(name)}`),
      unionAll,
    )}) as found`;
  const tier = (name: TierName, condition: Sql, rows: Sql): Sql =>
    sql`${cte(name)} as materialized (select * from (${rows}) as hits where ${condition})`;
  return {
    cte,
    first: (name: TierName, rows: Sql): Sql => tier(name, asked, rows),
    second: (name: TierName, rows: Sql): Sql =>
      tier(name, sql`${asked} and (select count(distinct id) ${foundIn(['exact'])}) < ${limit}`, rows),
    /** A tier of one order stops earlier: after the limit and as many as the better tiers have, since no more of its rows are in those. */
    later: (name: TierName, rows: Sql): Sql => {
      const better = foundIn(tierNames.slice(0, tierNames.indexOf(name)));
      return tier(
        name,
        sql`${asked} limit (select case when count(distinct id) < ${limit} then ${limit} + count(distinct id) else 0 end ${better})`,
        rows,
      );
    },
  };
}

/** CTEs of one kind; the last, `<kind>_best`, has its results. */
function kindSql(searched: SearchKind, asked: SearchAsked, inMany: InMany): Sql {
  const { kind, from, item } = searched;
  const { text, limit } = asked;
  const { cte, first, second, later } = tierCtes(searched, asked);
  const { byFields, byChannels } = rowsSql(searched);
  // A row may be a hit of several tiers. Fewer than the limit are in better ones whenever a tier is read, so twice the limit is enough.
  const [once, twice] = [sql`${limit}`, sql`2 * ${limit}`];
  const start = sql`${literalSql(text)} || '%'`;
  const field = (condition: Sql): Sql => sql`case when ${condition} then 1 else 2 end`;
  // A start of fewer characters is in the channels as it is written, and in many of them.
  const isAddress = sql`(strpos(${text}, '@') > 0 or char_length(directory.phone_digits(${foldedSql(text)})) >= 5)`;
  const byAddress = searched.addresses(text).map((begins) => byFields(2, sql`2`, sql`${isAddress} and ${begins}`, twice));
  const exactChannel = sql`v.value = left(${foldedSql(text)}, 500)`;
  const channelStart = sql`v.value like ${start} and (char_length(${foldedSql(text)}) < 2 or left(v.value, 2) = left(${foldedSql(text)}, 2))`;
  const inName = field(sql`(strpos(r.search_name, ${foldedSql(text)}) > 0 or ${nameInAnyOrderSql('r', text)})`);
  const inDescription = containsSql(sql`r.search_description`, text, gramsOf('r'), inMany.descriptions);
  return sql.join(
    [
      first(
        'exact',
        sql`${byFields(1, sql`1`, sql`r.search_name = ${foldedSql(text)}`, once)} union all ${byChannels(1, exactChannel, once)}`,
      ),
      second(
        'start',
        sql.join(
          [byFields(2, sql`1`, sql`r.search_name like ${start}`, twice), byChannels(2, channelStart, twice), ...byAddress],
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

/** Whether a short text is in many names or channels of people, in many of their descriptions, the same of holons. */
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
  sql: (asked) => {
    const { person, holon } = searchKinds(asked);
    const people = kindSql(person, asked, { texts: asked.inManyPeople, descriptions: asked.inManyPeopleDescriptions });
    const holons = kindSql(holon, asked, { texts: asked.inManyHolons, descriptions: asked.inManyHolonDescriptions });
    return sql`with ${people},
${holons} ${resultsSql(asked)}`;
  },
});
