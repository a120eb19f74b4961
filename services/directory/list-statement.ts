/** How every list of `/api/v1` is read: one statement that gives the whole body (rules/memberships#lists; D41). */
import { type Sql, sql, type SqlPart, t } from '#libs/sql';

/** Fields of a list's body, in order; others than these come from `extra`. */
type BodyField = 'count' | 'limit' | 'offset' | 'has_more' | 'items';

/** Parameters of a list that is read in pages. */
export const pageParams = { limit: t.integer, offset: t.integer };

export interface ListSql {
  /** Tables of the matches, with their joins: `directory.people p`. */
  readonly from: Sql;
  readonly where: Sql;
  /** Column that identifies a match, e.g. `p.id`: all that is sorted. */
  readonly key: Sql;
  /** Total order, the primary key last. */
  readonly order: Sql;
  /** Tables of an item, joined to the keys of the page: `directory.people p on p.id = page.key`. */
  readonly itemFrom: Sql;
  /** An item's JSON. */
  readonly item: Sql;
  readonly limit: SqlPart;
  readonly offset?: SqlPart;
  /** The number of matches, where there is something cheaper than counting them. */
  readonly count?: Sql;
  /** Where finding the matches is the work: they are found once for count and page, instead of once for each. */
  readonly foundOnce?: boolean;
  /** Condition about what the list belongs to (a visible holon …); no row when it does not hold. */
  readonly exists?: Sql;
  /** Further fields of the body, first in it. */
  readonly extra?: Readonly<Record<string, SqlPart>>;
  /** Default all five. */
  readonly fields?: readonly BodyField[];
}

/**
 * One row with the column `body`, none when `exists` does not hold. Such a statement is planned once, unless the best plan depends on its values:
 * all the joins of an item take longer to plan than to read.
 */
export function listSql(list: ListSql): Sql {
  const { limit, offset = 0, foundOnce = false } = list;
  const values: Record<BodyField, SqlPart> = {
    count: sql`total.count`,
    limit,
    offset,
    has_more: sql`${offset} + page.shown < total.count`,
    items: sql`page.items`,
  };
  const fields = list.fields ?? (['count', 'limit', 'offset', 'has_more', 'items'] as const);
  const body = [...Object.entries(list.extra ?? {}), ...fields.map((field) => [field, values[field]] as const)];
  const matches = sql`from ${list.from} where ${list.where}`;
  const page = sql`limit ${limit} offset ${offset}`;
  const found = sql`with found as materialized (select ${list.key} as key, row_number() over (order by ${list.order}) as place ${matches})`;
  const keys = foundOnce
    ? sql`select key from found order by place ${page}`
    : sql`select ${list.key} as key ${matches} order by ${list.order} ${page}`;
  const count = list.count ?? sql`select count(*) as count ${foundOnce ? sql`from found` : matches}`;
  // The keys are sorted and cut before any JSON is made. `offset 0`: counted once, although the number is both shown and compared.
  return sql`${foundOnce ? found : sql.empty} select json_build_object(${sql.join(
    body.map(([field, value]) => sql`${sql.literal(field)}, ${value}`),
    sql`, `,
  )})::text as body
    from (${count} offset 0) as total,
      (select coalesce(json_agg(${list.item} order by page.place), '[]') as items, count(*) as shown
       from (select keys.key, row_number() over () as place from (${keys}) as keys) as page
       join ${list.itemFrom}) as page
    ${list.exists === undefined ? sql.empty : sql`where ${list.exists}`}`;
}
