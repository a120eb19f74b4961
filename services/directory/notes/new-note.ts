/** Writes the note that is part of another write, in the same transaction (rules/memberships#updates). */
import { badRequest } from '#libs/infrastructure/errors';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Tx } from '#libs/infrastructure/orm';
import { isBlank } from '#libs/infrastructure/text';
import { emitNote } from '../events/index.ts';
import { insertNote } from './statements.ts';

/**
 * Returns the text of a note as it is stored: trimmed, otherwise verbatim (rules/memberships#updates). @throws AppError
 * 400 when it is blank
 */
export function readNote(text: string): string {
  const note = text.trim();
  if (isBlank(note)) throw badRequest('The note must not be empty.');
  return note;
}

export interface NewNote {
  /** Text as sent by the caller. */
  readonly text: string;
  readonly authorPersonId: number | null;
  readonly membershipId?: number;
  readonly relationshipId?: number;
  /** People in whose feeds the note appears. */
  readonly personIds: readonly number[];
  readonly holonIds: readonly number[];
}

/**
 * Writes a note into the feeds of people and holons. @returns NoteItem as JSON text @throws AppError 400 when the text
 * is blank
 */
export async function createNote(eventOutbox: EventOutbox, tx: Tx, note: NewNote): Promise<string> {
  const { authorPersonId, membershipId, relationshipId, personIds, holonIds } = note;
  const {
    id,
    note_type: noteType,
    body,
  } = await insertNote(tx, {
    text: readNote(note.text),
    authorPersonId,
    membershipId,
    relationshipId,
    personIds,
    holonIds,
  });
  emitNote(eventOutbox, tx, { id, noteType, personIds, holonIds, membershipId, relationshipId });
  return body;
}
