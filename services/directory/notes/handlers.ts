/** Feeds of notes: as a caller may see them (rules/memberships#notes; D47a, D48), and whole for the admin CLI. */
import { appError } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../contract.ts';
import { readBody, readBodyFor } from '../read-body.ts';
import type { noteRpcs } from './contract.ts';
import { listHolonNotes, listNotesOfHolon, listNotesOfPerson, listPersonNotes } from './statements.ts';

/** Notes of a page when the caller does not say (rules/http#limits). */
const usualLimit = 50;
const usualAdminLimit = 1_000;

export function createNoteHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof noteRpcs> {
  return {
    listNotesOfPerson: ({ person_id: id, limit = usualLimit }, { actor }) => readBodyFor(db, actor, listNotesOfPerson, id, limit),
    listNotesOfHolon: ({ holon_id: id, limit = usualLimit }, { actor }) => readBodyFor(db, actor, listNotesOfHolon, id, limit),
    listNotes: async ({ person_id: personId, holon_id: holonId, before = null, limit = usualAdminLimit }) => {
      if ((personId === undefined) === (holonId === undefined)) {
        throw appError('bad_request', 'invalid_request', 'Exactly one of person_id and holon_id must be given.');
      }
      return personId === undefined
        ? readBody(db, listHolonNotes, holonId, limit, before)
        : readBody(db, listPersonNotes, personId, limit, before);
    },
  };
}
