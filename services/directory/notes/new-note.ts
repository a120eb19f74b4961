/** Writes the note that comes with another write, in its transaction (rules/memberships#updates). */
import type { Queryable } from '#libs/orm';
import { readNote } from './rules.ts';
import { insertNote } from './statements.ts';

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
export async function createNote(tx: Queryable, note: NewNote): Promise<string> {
  const [row] = await tx.query<{ body: string }>(insertNote, [
    readNote(note.text),
    note.authorPersonId,
    note.membershipId ?? null,
    note.relationshipId ?? null,
    note.personIds,
    note.holonIds,
  ]);
  if (row === undefined) throw new Error('the note was not written');
  return row.body;
}
