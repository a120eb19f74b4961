/**
 * Handlers of note feeds: limited to what the caller can see (rules/memberships#notes; D47a, D48), and complete for the
 * admin CLI.
 */
import { appError } from '#libs/errors';
import type { HandlersOf } from '#libs/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { type noteRpcs, notesPerPage } from './contract.ts';
import { listHolonNotes, listNotesOfHolon, listNotesOfPerson, listPersonNotes } from './statements.ts';

const defaultAdminLimit = 1_000;

export function createNoteHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof noteRpcs> {
  return {
    listNotesOfPerson: async ({ person_id: personId, limit = notesPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listNotesOfPerson(db, { personId, limit, offset, ...readViewer(actor) })),
    listNotesOfHolon: async ({ holon_id: holonId, limit = notesPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listNotesOfHolon(db, { holonId, limit, offset, ...readViewer(actor) })),
    listNotes: async ({ person_id: personId, holon_id: holonId, before, limit = defaultAdminLimit }) => {
      const [owner, none] = personId === undefined ? [holonId, personId] : [personId, holonId];
      if (owner === undefined || none !== undefined) {
        throw appError('bad_request', 'invalid_request', 'Exactly one of person_id and holon_id must be given.');
      }
      return bodyOf(
        await (personId === undefined ? listHolonNotes : listPersonNotes)(db, { ownerId: owner, limit, before }),
      );
    },
  };
}
