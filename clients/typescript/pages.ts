/** Lists that come in pages, as one sequence. */
import type { ApiReply } from './transport.ts';

/** A page as every paged list of the API answers it. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly has_more: boolean;
}

/** What a paged operation takes, as far as paging needs to know it. */
export interface PagedRequest {
  readonly query?: { readonly limit?: number; readonly offset?: number };
}

/**
 * All items of a list, page after page, each page asked for when it is reached. Begins at the request's `offset`; its `limit` is the size of
 * a page. What is written meanwhile may shift the pages: an item that moves can come twice or not at all; sort by something that does not
 * change where that matters.
 * @throws what the operation throws
 */
export async function* listItems<Request extends PagedRequest, Item>(
  list: (request: Request) => Promise<ApiReply<200, Page<Item>>>,
  request: Request,
): AsyncGenerator<Item, void, undefined> {
  let offset = request.query?.offset ?? 0;
  for (;;) {
    const { body } = await list({ ...request, query: { ...request.query, offset } });
    yield* body.items;
    offset += body.items.length;
    if (!body.has_more || body.items.length === 0) return;
  }
}
