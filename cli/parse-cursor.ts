import { InvalidArgumentError } from 'commander';
import { type ListKind, type MergedCursor, type Position, decodePosition, decodeMergedCursor } from '#libs/merged-list';

/** Reads where a page begins, which the API, the console and the page before tell. @throws InvalidArgumentError */
export const parseCursor =
  (list: ListKind) =>
  (text: string): Position =>
    decodePosition(list, text) ?? refuse();

/** The same of a list of several services. @throws InvalidArgumentError */
export const parsePlace =
  (list: ListKind) =>
  (text: string): MergedCursor =>
    decodeMergedCursor(list, text) ?? refuse();

function refuse(): never {
  throw new InvalidArgumentError('must be what the page before tells.');
}

export const cursorText = 'the page after, as the page before tells';
