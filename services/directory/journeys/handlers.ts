/** Journeys, for the open API and for other services (rules/journeys#journeys; D47). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../body.ts';
import type { directory } from '../contract.ts';
import { everyField } from '../fields.ts';
import { journeyListQuery, type journeyRpcs, journeysPerPage } from './contract.ts';
import { getJourney, getJourneys, listJourneys } from './statements.ts';

export function createJourneyHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof journeyRpcs> {
  return {
    getJourneys: async ({ ids = [], slugs = [] }) => bodyOf(await getJourneys(db, { ids, slugs })),
    listJourneys: async (request) => {
      const { limit = journeysPerPage, offset = 0, ...filters } = everyField(journeyListQuery, request);
      return bodyOf(await listJourneys(db, { ...filters, limit, offset }));
    },
    getJourney: async ({ slug }) => bodyOf(await getJourney(db, { slug })),
  };
}
