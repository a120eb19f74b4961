/** A feed reader for tests: reads events after a cursor, of all subjects or of one subject. */
import type { Actor, ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import type { Bus } from '#libs/infrastructure/nats';
import { contextFor, waitFor } from '#libs/product/testing';
import { events } from '#services/events';

const { readFeed } = events.rpcs;
type Request = RequestOf<typeof readFeed>;
export type FeedPage = ReplyOf<typeof readFeed>;

export interface FeedReader {
  /** Returns a page with full visibility, or as `actor` sees it. */
  read(request?: Request, actor?: Actor): Promise<FeedPage>;
  /** Returns type and data of the events, once `count` events exist. */
  told(count: number, request?: Request, actor?: Actor): Promise<[string, object][]>;
}

export function createFeedReader(bus: Bus): FeedReader {
  const read: FeedReader['read'] = (request = {}, actor) => bus.call(readFeed, request, contextFor(readFeed, actor));
  return {
    read,
    told: async (count, request = {}, actor) => {
      const page = await waitFor(
        async () => {
          const found = await read({ limit: 500, ...request }, actor);
          return found.items.length >= count ? found : undefined;
        },
        { what: `${count} events` },
      );
      return page.items.map(({ type, data }) => [type, data]);
    },
  };
}
