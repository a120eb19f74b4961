import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobHandler } from '#libs/infrastructure/jobs';
import type { Dependencies } from '../dependencies.ts';
import { emitNote } from '../events/index.ts';
import { lockPeopleForShare } from '../person-rows/index.ts';
import type { noteJobs } from './contract.ts';
import { addNote } from './statements.ts';

/**
 * Returns the handler that adds a note of another service. One transaction stores the note and the job result; the key
 * makes retries harmless.
 */
export function createNoteAdd({
  eventOutbox,
}: Pick<Dependencies, 'eventOutbox'>): JobHandler<PayloadOf<typeof noteJobs.noteAdd>> {
  return async (run) => {
    const { payload } = run;
    await run.complete(async (tx) => {
      // The lock is a separate statement, so that the next statement sees completed merges.
      await lockPeopleForShare(tx, {
        membershipId: null,
        personIds: [
          ...(payload.person_ids ?? []),
          ...(payload.author_person_id === null ? [] : [payload.author_person_id]),
        ],
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
      // A note without a feed has no readers, so it is not stored.
      if (personIds.length + holonIds.length > 0)
        emitNote(eventOutbox, tx, { id, noteType: payload.note_type, personIds, holonIds });
    });
  };
}
