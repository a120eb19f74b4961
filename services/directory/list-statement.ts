/** How every list of `/api/v1` is read: one named statement that gives the whole body (rules/memberships#lists; D41). */
import { statement, type Statement } from '#libs/orm';

/** Fields of a list's body, in order; others than these come from `extra`. */
type BodyField = 'count' | 'limit' | 'offset' | 'has_more' | 'items';

export interface ListSql {
  /** Name of the statement. */
  readonly name: string;
  /** `each-call` where the best plan depends on the values. Others are planned once: all the joins of an item take longer to plan than to read. */
  readonly planned?: 'each-call';
  /** Tables of the matches, with their joins: `directory.people p`. */
  readonly from: string;
  readonly where: string;
  /** Column that identifies a match, e.g. `p.id`: all that is sorted. */
  readonly key: string;
  /** Total order, the primary key last. */
  readonly order: string;
  /** Tables of an item, joined to the keys of the page: `directory.people p on p.id = page.key`. */
  readonly itemFrom: string;
  /** SQL of an item's JSON. */
  readonly item: string;
  /** SQL of the parameters, e.g. `$4::integer`. */
  readonly limit: string;
  readonly offset?: string;
  /** SQL of the number of matches, where there is something cheaper than counting them. */
  readonly count?: string;
  /** Where finding the matches is the work: they are found once for count and page, instead of once for each. */
  readonly foundOnce?: true;
  /** Condition about what the list belongs to (a visible holon …); no row when it does not hold. */
  readonly exists?: string;
  /** Further fields of the body, first in it: name → SQL. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Default all five. */
  readonly fields?: readonly BodyField[];
}

/** The statement's text; one row with the column `body`, none when `exists` does not hold. */
export function listSql(list: ListSql): string {
  const offset = list.offset ?? '0';
  const values: Record<BodyField, string> = {
    count: 'total.count',
    limit: list.limit,
    offset,
    has_more: `${offset} + page.shown < total.count`,
    items: 'page.items',
  };
  const fields = list.fields ?? (['count', 'limit', 'offset', 'has_more', 'items'] as const);
  const body = [...Object.entries(list.extra ?? {}), ...fields.map((field) => [field, values[field]] as const)];
  const matches = `from ${list.from} where ${list.where}`;
  const page = `limit ${list.limit} offset ${offset}`;
  const once = list.foundOnce === true;
  const found = once
    ? `with found as materialized (select ${list.key} as key, row_number() over (order by ${list.order}) as place ${matches})`
    : '';
  const keys = once
    ? `select key from found order by place ${page}`
    : `select ${list.key} as key ${matches} order by ${list.order} ${page}`;
  const count = list.count ?? `select count(*) as count ${once ? 'from found' : matches}`;
  // The keys are sorted and cut before any JSON is made. `offset 0`: counted once, although the number is both shown and compared.
  return `${found} select json_build_object(${body.map(([field, sql]) => `'${field}', ${sql}`).join(', ')})::text as body
    from (${count} offset 0) as total,
      (select coalesce(json_agg(${list.item} order by page.place), '[]') as items, count(*) as shown
       from (select keys.key, row_number() over () as place from (${keys}) as keys) as page
       join ${list.itemFrom}) as page
    ${list.exists === undefined ? '' : `where ${list.exists}`}`;
}

/** Declares a list. */
export function listStatement(list: ListSql): Statement {
  return statement(list.name, listSql(list), { planned: list.planned ?? 'once' });
}
