/** Conversation events, browse and look-ups, for whoever calls (rules/discovery#browse; D10, D11, D17, D18, D18f). One statement for each request. */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../contract.ts';
import { readBody, readBodyFor } from '../read-body.ts';
import type { browseRpcs } from './contract.ts';
import { browseHolon, listAllEvents, listEventJourneys, listEventsBelow, lookUpHolons, lookUpPeople } from './statements.ts';

export function createBrowseHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof browseRpcs> {
  return {
    listConversationEvents: ({ holon_slug: slug }, { actor }) =>
      slug === undefined ? readBodyFor(db, actor, listAllEvents) : readBodyFor(db, actor, listEventsBelow, slug),
    listEventJourneys: ({ event_slug: slug }, { actor }) => readBodyFor(db, actor, listEventJourneys, slug),
    browseHolon: ({ holon_slug: slug }, { actor }) => readBodyFor(db, actor, browseHolon, slug),
    lookUpPeople: ({ ids }) => readBody(db, lookUpPeople, ids),
    lookUpHolons: ({ ids }, { actor }) => readBodyFor(db, actor, lookUpHolons, ids),
  };
}
