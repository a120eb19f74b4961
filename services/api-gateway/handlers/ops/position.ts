/** Where the page begins that an operator asks for (P2). */
import { type AppError, appError } from '#libs/errors';
import { beginning, type ListKind, type Place, type Position, readCursor, readPlace } from '#libs/merged-list';

/** @returns undefined for the first page. @throws AppError 400 `bad_cursor` */
export function readPosition(kind: ListKind, cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const position = readCursor(kind, cursor);
  if (position === undefined) throw badCursor();
  return position;
}

/** The same of a list over several services. @throws AppError 400 `bad_cursor` */
export function readBegin(kind: ListKind, cursor: string | undefined): Place {
  if (cursor === undefined) return beginning;
  const place = readPlace(kind, cursor);
  if (place === undefined) throw badCursor();
  return place;
}

/** For one whose place there cannot be. */
export const badCursor = (): AppError => appError('bad_request', 'bad_cursor', 'The cursor is none of this list.');
