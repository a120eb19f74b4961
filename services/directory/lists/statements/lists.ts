/**
 * Builds paged lists whose whole body PostgreSQL produces, and defines how people and holons are sorted and filtered
 * (rules/people#people; D47).
 */
import { badRequest } from '#libs/infrastructure/errors';
import { type ParamsOf, type Sql, sql, type SqlPart, t } from '#libs/infrastructure/sql';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';

/** Fields of a list's body, in order; further fields come from `extra`. */
type BodyField = 'count' | 'limit' | 'offset' | 'has_more' | 'items';

/** Paging parameters. */
export const pageParams = { limit: t.integer, offset: t.integer };

export interface ListSql {
  /** Tables of the matches with their joins, e.g. `directory.people p`. */
  readonly from: Sql;
  readonly where: Sql;
  /** Unique column of a match, e.g. `p.id`; only this column is sorted. */
  readonly key: Sql;
  /** Total order, ending with the primary key. */
  readonly order: Sql;
  /** Tables of an item, joined to the page's keys, e.g. `directory.people p on p.id = page.key`. */
  readonly itemFrom: Sql;
  /** SQL of an item's JSON. */
  readonly item: Sql;
  readonly limit: SqlPart;
  readonly offset?: SqlPart;
  /** Count query, if it is cheaper than counting the matches. */
  readonly count?: Sql;
  /** Materializes the matches once for count and page. Use when matching is the expensive part. */
  readonly materializeMatches?: boolean;
  /** Condition on the parent, e.g. that a holon is visible. Without it the list has no row. */
  readonly exists?: Sql;
  /** Additional fields, placed first in the body. */
  readonly extra?: Readonly<Record<string, SqlPart>>;
  /** Fields of the body. By default all five. */
  readonly fields?: readonly BodyField[];
}

/**
 * Returns the SQL of a list: one row with the column `body`, or no row if `exists` is false. Plan such statements once,
 * unless the plan depends on values: planning the joins of an item takes longer than reading it.
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
  // The statement sorts and limits keys before it builds JSON. `offset 0` makes PostgreSQL count once, although the
  // number is used twice.
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

/** Default page size (rules/http#limits). */
export const recordPage = 100;

export type RecordSort = 'name' | 'latest' | 'updated';

/** `order by` terms for an alias, ending with the primary key. */
export const recordOrders: Readonly<Record<RecordSort, (alias: string) => Sql>> = {
  name: (alias) => sql`${sql.id(alias)}.search_name, ${sql.id(alias)}.id`,
  latest: (alias) => sql`${sql.id(alias)}.created_at desc, ${sql.id(alias)}.id`,
  updated: (alias) => sql`${sql.id(alias)}.updated_at desc, ${sql.id(alias)}.id`,
};

/** Returns the sort order of a request. @throws AppError bad_request */
export function readSort(sort: string | undefined): RecordSort {
  if (sort === undefined) return 'name';
  if (sort === 'name' || sort === 'latest' || sort === 'updated') return sort;
  throw badRequest('sort must be one of name, latest and updated.');
}

interface AfterFilters {
  readonly created_after?: string | undefined;
  readonly updated_after?: string | undefined;
}

/** Parameters of the date filters. */
export const afterParams = { createdAfter: t.instant.nullable, updatedAfter: t.instant.nullable };

/** Parses the date filters. An instant without an offset is read as UTC. */
export function readAfter({
  created_after: created,
  updated_after: updated,
}: AfterFilters): ParamsOf<typeof afterParams> {
  return { createdAfter: readInstant(created), updatedAfter: readInstant(updated) };
}

function readInstant(text: string | undefined): string | null {
  const parsed = text === undefined ? undefined : parseInstant(text);
  return parsed === undefined || parsed.kind === 'invalid' ? null : formatInstant(parsed.instant);
}
