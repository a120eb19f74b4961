/** Conversation events, browse and look-ups, for whoever calls (rules/discovery#browse; D10, D11, D17, D18, D18f). One statement for each request. */
import type { Actor } from '#libs/contract';
import { notFound } from '#libs/errors';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database, Statement } from '#libs/orm';
import type { directory } from '../contract.ts';
import { readViewer } from '../viewer.ts';
import {
  browseHolon,
  findCoveredHolons,
  getHolonSubtree,
  getVisibleHolons,
  listCoveredHolons,
  lookUpHolons,
  lookUpPeople,
} from './statements.ts';
import { listAllEvents, listEventJourneys, listEventsBelow } from '../repositories/conversation-events.ts';

type BrowseHandlers = Pick<
  Handlers<typeof directory>,
  | 'holonSubtree'
  | 'visibleHolons'
  | 'coveredHolons'
  | 'listConversationEvents'
  | 'listEventJourneys'
  | 'browseHolon'
  | 'lookUpPeople'
  | 'lookUpHolons'
>;

export function createBrowseHandlers(db: Database): BrowseHandlers {
  /** The statement's body for the caller, who is the last two parameters. @throws AppError not_found without one. */
  async function readFor(actor: Actor | undefined, statement: Statement, ...params: unknown[]): Promise<ReturnType<typeof rawJson>> {
    const [row] = await db.query<{ body: string | null }>(statement, [...params, ...readViewer(actor)]);
    if (typeof row?.body !== 'string') throw notFound();
    return rawJson(row.body);
  }

  return {
    holonSubtree: ({ slug }, { actor }) => readFor(actor, getHolonSubtree, slug),
    visibleHolons: async ({ account_id: accountId, ids = [], slugs = [] }) => {
      const [row] = await db.query<{ body: string }>(getVisibleHolons, [ids, slugs, false, accountId]);
      return rawJson(row?.body ?? '{"items":[]}');
    },
    coveredHolons: async ({ account_id: accountId, ids }) => {
      const [row] = await (ids === undefined
        ? db.query<{ body: string }>(listCoveredHolons, [accountId])
        : db.query<{ body: string }>(findCoveredHolons, [accountId, ids]));
      return rawJson(row?.body ?? '{"ids":[]}');
    },
    listConversationEvents: ({ holon_slug: slug }, { actor }) =>
      slug === undefined ? readFor(actor, listAllEvents) : readFor(actor, listEventsBelow, slug),
    listEventJourneys: ({ event_slug: slug }, { actor }) => readFor(actor, listEventJourneys, slug),
    browseHolon: ({ holon_slug: slug }, { actor }) => readFor(actor, browseHolon, slug),
    lookUpPeople: async ({ ids }) => {
      const [row] = await db.query<{ body: string }>(lookUpPeople, [ids]);
      return rawJson(row?.body ?? '[]');
    },
    lookUpHolons: ({ ids }, { actor }) => readFor(actor, lookUpHolons, ids),
  };
}
