/**
 * Handlers of browse, look-ups by id, and conversation events (rules/discovery#browse; D10, D11, D17, D18, D18f). Each
 * request runs one statement.
 */
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import type { browseRpcs } from './contract.ts';
import {
  browseHolon,
  listAllEvents,
  listEventJourneys,
  listEventsBelow,
  lookUpHolons,
  lookUpPeople,
} from './statements.ts';

export function createBrowseHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof browseRpcs> {
  return {
    listConversationEvents: async ({ holon_slug: slug }, { actor }) => {
      const viewer = readViewer(actor);
      return bodyOf(await (slug === undefined ? listAllEvents(db, viewer) : listEventsBelow(db, { slug, ...viewer })));
    },
    listEventJourneys: async ({ event_slug: slug }, { actor }) =>
      bodyOf(await listEventJourneys(db, { slug, ...readViewer(actor) })),
    browseHolon: async ({ holon_slug: slug }, { actor }) =>
      bodyOf(await browseHolon(db, { slug, ...readViewer(actor) })),
    lookUpPeople: async ({ ids }) => bodyOf(await lookUpPeople(db, { ids })),
    lookUpHolons: async ({ ids }, { actor }) => bodyOf(await lookUpHolons(db, { ids, ...readViewer(actor) })),
  };
}
