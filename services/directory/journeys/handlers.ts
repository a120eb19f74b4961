/** Journeys, for the open API and for other services (rules/journeys#journeys; D47). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../contract.ts';
import { readBody } from '../read-body.ts';
import type { journeyRpcs } from './contract.ts';
import { getJourney, getJourneys, listJourneys } from './statements.ts';

/** Items of a page when the caller does not say (rules/http#limits). */
const usualLimit = 50;

export function createJourneyHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof journeyRpcs> {
  return {
    getJourneys: ({ ids = [], slugs = [] }) => readBody(db, getJourneys, ids, slugs),
    listJourneys: ({
      svc_app: app,
      object_kind: kind,
      applies_to: objectClass,
      is_conversation: conversation,
      q,
      limit = usualLimit,
      offset = 0,
    }) => readBody(db, listJourneys, app ?? null, kind ?? null, objectClass ?? null, conversation ?? null, q ?? null, limit, offset),
    getJourney: ({ slug }) => readBody(db, getJourney, slug),
  };
}
