/** Lists that come in pages, as one sequence. */
import type { ApiReply } from './transport.ts';

/**
 * A page as the paged lists of the API answer it: of the first two kinds the next is asked for by its `offset`, of the last by the `next` of this
 * one. Of the second kind are those that tell how many items there are in all, or nothing; they go on until a page is empty at the latest.
 */
export type Page<Item> =
  | { readonly items: readonly Item[]; readonly has_more: boolean; readonly next?: never }
  | { readonly items: readonly Item[]; readonly count?: number; readonly has_more?: never; readonly next?: never }
  | { readonly items: readonly Item[]; readonly next: string | null; readonly has_more?: never };

/** What a paged operation takes, as far as paging needs to know it. */
export interface PagedRequest {
  readonly query?: { readonly limit?: number; readonly offset?: number; readonly cursor?: string };
}

/**
 * All items of a list, page after page, each page asked for when it is reached. Begins at the request's `offset` or `cursor`; its `limit` is the size
 * of a page. With `offset`, what is written meanwhile may shift the pages: an item that moves can come twice or not at all; sort by something that
 * does not change where that matters.
 * @throws what the operation throws
 */
export async function* listItems<Request extends PagedRequest, Item>(
  list: (request: Request) => Promise<ApiReply<200, Page<Item>>>,
  request: Request,
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
