import { InvalidArgumentError } from 'commander';
import { type ListKind, type Position, readCursor } from '#libs/merged-list';

/** Reads where a page begins, which the API, the console and the page before tell. @throws InvalidArgumentError */
export const parseCursor =
  (list: ListKind) =>
  (text: string): Position => {
    const position = readCursor(list, text);
    if (position === undefined) throw new InvalidArgumentError('must be what the page before tells.');
    return position;
  };

export const cursorText = 'the page after, as the page before tells';
