/** Where the page begins that an operator asks for (P2). */
import { type AppError, appError } from '#libs/errors';
import { startCursor, type ListKind, type MergedCursor, type Position, decodePosition, decodeMergedCursor } from '#libs/cursor';

/** @returns undefined for the first page. @throws AppError 400 `bad_cursor` */
export const readPosition = (kind: ListKind, cursor: string | undefined): Position | undefined =>
  cursor === undefined ? undefined : known(decodePosition(kind, cursor));

/** The same of a list over several services. @throws AppError 400 `bad_cursor` */
export const readBegin = (kind: ListKind, cursor: string | undefined): MergedCursor =>
  cursor === undefined ? startCursor : known(decodeMergedCursor(kind, cursor));

/** For one whose place there cannot be. */
export const badCursor = (): AppError => appError('bad_request', 'bad_cursor', 'The cursor is none of this list.');

function known<T>(place: T | undefined): T {
  if (place === undefined) throw badCursor();
  return place;
}
