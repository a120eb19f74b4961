import { badRequest } from '#libs/errors';
import { isBlank } from '#libs/text';

/** The text of a note as it is stored: trimmed, otherwise verbatim (rules/memberships#updates). @throws AppError 400 when nothing is left. */
export function readNote(text: string): string {
  const note = text.trim();
  if (isBlank(note)) throw badRequest('The note must not be empty.');
  return note;
}
