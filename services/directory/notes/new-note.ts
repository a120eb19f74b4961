/** Writes the note of another write in its transaction (rules/memberships#updates). */
import { badRequest } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { isBlank } from '#libs/text';
import { tellNote } from '../events/index.ts';
import { insertNote } from './statements.ts';

/** The text of a note as it is stored: trimmed, otherwise verbatim (rules/memberships#updates). @throws AppError 400 when nothing is left. */
export function readNote(text: string): string {
  const note = text.trim();
  if (isBlank(note)) throw badRequest('The note must not be empty.');
  return note;
}

export interface NewNote {
  /** As the caller sent it. */
  readonly text: string;
  readonly authorPersonId: number | null;
  readonly membershipId?: number;
  readonly relationshipId?: number;
  /** Feeds that it is written into. */
  readonly personIds: readonly number[];
  readonly holonIds: readonly number[];
}

/** Writes a note into the feeds. @returns the NoteItem as JSON text. @throws AppError 400 when nothing is left of the trimmed text. */
export async function createNote(eventOutbox: EventOutbox, tx: Tx, note: NewNote): Promise<string> {
  const { authorPersonId, membershipId, relationshipId, personIds, holonIds } = note;
  const {
    id,
    note_type: noteType,
    body,
  } = await insertNote(tx, { text: readNote(note.text), authorPersonId, membershipId, relationshipId, personIds, holonIds });
  tellNote(eventOutbox, tx, { id, noteType, personIds, holonIds, membershipId, relationshipId });
  return body;
}
