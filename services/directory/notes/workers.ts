import type { PayloadOf } from '#libs/contract';
import type { EventOutbox } from '#libs/feed';
import type { JobHandler } from '#libs/jobs';
import { tellNote } from '../events/index.ts';
import { keepPeople } from '../person-rows/index.ts';
import type { noteJobs } from './contract.ts';
import { addNote } from './statements.ts';

/** Adds a note of another service; the note and the job's success are one transaction, and the key makes a repetition harmless. */
export function createNoteAdd(eventOutbox: EventOutbox): JobHandler<PayloadOf<typeof noteJobs.noteAdd>> {
  return async (run) => {
    const { payload } = run;
    await run.complete(async (tx) => {
      // In a statement of its own: the next one sees who they are now.
      await keepPeople(tx, {
        membershipId: null,
        personIds: [...(payload.person_ids ?? []), ...(payload.author_person_id === null ? [] : [payload.author_person_id])],
      });
      const added = await addNote(tx, {
        key: payload.key,
        body: payload.body,
        noteType: payload.note_type,
        authorPersonId: payload.author_person_id,
        createdAt: payload.created_at,
        personIds: payload.person_ids ?? [],
        holonIds: payload.holon_ids ?? [],
      });
      if (added === undefined) return;
      const { id, person_ids: personIds, holon_ids: holonIds } = added;
      // On nobody's feed it is read by nobody.
      if (personIds.length + holonIds.length > 0) tellNote(eventOutbox, tx, { id, noteType: payload.note_type, personIds, holonIds });
    });
  };
}
