/** Paged lists whose whole body is built by PostgreSQL, and how people and holons are sorted and filtered (rules/people#people; D47). */
import { badRequest } from '#libs/errors';
import { type ParamsOf, type Sql, sql, type SqlPart, t } from '#libs/sql';
import { formatInstant, parseInstant } from '#libs/time';

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
  readonly materializeMatches?: boolean;
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
  const { limit, offset = 0, materializeMatches = false } = list;
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
  const keys = materializeMatches
    ? sql`select key from found order by place ${page}`
    : sql`select ${list.key} as key ${matches} order by ${list.order} ${page}`;
  const count = list.count ?? sql`select count(*) as count ${materializeMatches ? sql`from found` : matches}`;
  // The keys are sorted and cut before any JSON is made. `offset 0`: counted once, although the number is both shown and compared.
  return sql`${materializeMatches ? found : sql.empty} select json_build_object(${sql.join(
    body.map(([field, value]) => sql`${sql.literal(field)}, ${value}`),
    sql`, `,
  )})::text as body
    from (${count} offset 0) as total,
      (select coalesce(json_agg(${list.item} order by page.place), '[]') as items, count(*) as shown
       from (select keys.key, row_number() over () as place from (${keys}) as keys) as page
       join ${list.itemFrom}) as page
    ${list.exists === undefined ? sql.empty : sql`where ${list.exists}`}`;
}

/** Items of a page when the caller does not say (rules/http#limits). */
export const recordPage = 100;

export type RecordSort = 'name' | 'latest' | 'updated';

/** SQL of the orders for the alias of a row; the primary key decides between equals. */
export const recordOrders: Readonly<Record<RecordSort, (alias: string) => Sql>> = {
  name: (alias) => sql`${sql.id(alias)}.search_name, ${sql.id(alias)}.id`,
  latest: (alias) => sql`${sql.id(alias)}.created_at desc, ${sql.id(alias)}.id`,
  updated: (alias) => sql`${sql.id(alias)}.updated_at desc, ${sql.id(alias)}.id`,
};

/** @throws AppError bad_request */
export function readSort(sort: string | undefined): RecordSort {
  if (sort === undefined) return 'name';
  if (sort === 'name' || sort === 'latest' || sort === 'updated') return sort;
  throw badRequest('sort must be one of name, latest and updated.');
}

interface AfterFilters {
  readonly created_after?: string | undefined;
  readonly updated_after?: string | undefined;
}

/** The strictly-after filters as parameters of a statement. */
export const afterParams = { createdAfter: t.instant.nullable, updatedAfter: t.instant.nullable };

/** Their instants; a naive one is UTC. */
export function readAfter({ created_after: created, updated_after: updated }: AfterFilters): ParamsOf<typeof afterParams> {
  return { createdAfter: readInstant(created), updatedAfter: readInstant(updated) };
}

function readInstant(text: string | undefined): string | null {
  const parsed = text === undefined ? undefined : parseInstant(text);
  return parsed === undefined || parsed.kind === 'invalid' ? null : formatInstant(parsed.instant);
}
