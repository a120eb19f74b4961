/** Lists of people and of holons: how they are sorted, narrowed to what is new, and how long a page is (rules/people#people; D47). */
import { badRequest } from '#libs/errors';
import { type ParamsOf, type Sql, sql, t } from '#libs/sql';
import { formatInstant, parseInstant } from '#libs/time';

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
