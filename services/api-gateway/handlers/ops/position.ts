/** Where the page begins that an operator asks for (P2). */
import { type AppError, appError } from '#libs/errors';
import { type ListKind, type Position, readCursor } from '#libs/merged-list';

/** @returns undefined for the first page. @throws AppError 400 `bad_cursor` */
export function readPosition(kind: ListKind, cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const position = readCursor(kind, cursor);
  if (position === undefined) throw badCursor();
  return position;
}

/** For one whose place there cannot be. */
export const badCursor = (): AppError => appError('bad_request', 'bad_cursor', 'The cursor is none of this list.');
