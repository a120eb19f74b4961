/** Yields the items of paged lists as one sequence. */
import type { ApiReply } from './transport.ts';

/**
 * A page of a list. Pages of the first two types are requested by `offset`, pages of the last type by `next`. A list of
 * the second type may have no total count; it then ends with an empty page.
 */
export type Page<Item> =
  | { readonly items: readonly Item[]; readonly has_more: boolean; readonly next?: never }
  | { readonly items: readonly Item[]; readonly count?: number; readonly has_more?: never; readonly next?: never }
  | { readonly items: readonly Item[]; readonly next: string | null; readonly has_more?: never };

/** The request parameters for paging. */
export interface PagedRequest {
  readonly query?: { readonly limit?: number; readonly offset?: number; readonly cursor?: string };
}

/**
 * Yields all items of a list and requests each page when it is reached. Starts at the request's `offset` or `cursor`;
 * `limit` is the page size. With `offset`, concurrent writes can shift pages, so that an item appears twice or not at
 * all; sort by a field that does not change.
 * @throws the errors of the operation
 */
export async function* listItems<Request, Item>(
  list: (request: Request) => Promise<ApiReply<200, Page<Item>>>,
  // The type of the request is taken from the operation alone, so that filters are checked against it.
  request: NoInfer<Request> & PagedRequest,
): AsyncGenerator<Item, void, undefined> {
  let offset = request.query?.offset ?? 0;
  let position: PagedRequest['query'] = {};
  for (;;) {
    const { body } = await list({ ...request, query: { ...request.query, ...position } });
    yield* body.items;
    if (body.next === undefined) {
      offset += body.items.length;
      const hasMore = body.has_more ?? (body.count === undefined || offset < body.count);
      if (!hasMore || body.items.length === 0) return;
      position = { offset };
    } else {
      if (body.next === null) return;
      position = { cursor: body.next };
    }
  }
}
