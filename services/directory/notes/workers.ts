import type { PayloadOf } from '#libs/contract';
import type { JobHandler } from '#libs/jobs';
import type { directory } from '../contract.ts';
import { addNote } from './statements.ts';

/** Adds a note of another service; the note and the job's success are one transaction, and the key makes a repetition harmless. */
export const noteAdd: JobHandler<PayloadOf<typeof directory.jobs.noteAdd>> = async (run) => {
  const { payload } = run;
  await run.complete(async (tx) => {
    await addNote(tx, {
      key: payload.key,
      body: payload.body,
      noteType: payload.note_type,
      authorPersonId: payload.author_person_id,
      createdAt: payload.created_at,
      personIds: payload.person_ids ?? [],
      holonIds: payload.holon_ids ?? [],
    });
  });
};
