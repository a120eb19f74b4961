/**
 * Position of the next page of a search (T2, T6). Matches are ranked within windows of the newest matches, so that
 * every query costs the same: a window is returned best match first, then the next window. A cursor contains the
 * window's bounds and the last returned match.
 */
import { createHash } from 'node:crypto';
import { maxId } from '#libs/infrastructure/contract';
import { decodeCursor, encodeCursor } from '#libs/infrastructure/cursor';
import { parseInstant } from '#libs/infrastructure/time';

/** A position in the time order of matches. The newest position is the greatest. */
export interface Position {
  /** Start of the conversation, or the year 1 for a conversation without a start. */
  readonly start: string;
  readonly id: number;
  readonly index: number;
}

export interface Cursor {
  /** Exclusive upper bound of the window; null = the window of the newest matches. */
  readonly below: Position | null;
  /** Last match of the window; null = not known yet. */
  readonly last: Position | null;
  /** Last returned match of the window; null = none returned yet. */
  readonly after: (Position & { readonly score: number }) | null;
  /** Total number of matches, as the first page reported it. */
  readonly total: number;
}

/** Returns the cursor as text. `request` contains the fields that all pages share. */
export function writeCursor({ below, last, after, total }: Cursor, request: object): string {
  const fields = [
    digest(request),
    total,
    toList(below),
    toList(last),
    after === null ? null : [...(toList(after) ?? []), after.score],
  ];
  return encodeCursor(fields);
}

/** Parses a cursor. Returns undefined when it does not belong to this search. */
export function readCursor(text: string, request: object): Cursor | undefined {
  const fields = decodeCursor(text);
  if (fields?.length !== 5 || fields[0] !== digest(request)) return undefined;
  const [, total, belowList, lastList, afterList] = fields;
  const [below, last, after] = [readPosition(belowList), readPosition(lastList), readPosition(afterList)];
  if (below === undefined || last === undefined || after === undefined || typeof total !== 'number' || !(total >= 0))
    return undefined;
  if (after === null) return { below, last, after, total };
  const score = (afterList as unknown[])[3];
  return typeof score === 'number' && Number.isFinite(score)
    ? { below, last, after: { ...after, score }, total }
    : undefined;
}

const toList = (position: Position | null): (string | number)[] | null =>
  position === null ? null : [position.start, position.id, position.index];

function readPosition(list: unknown): Position | null | undefined {
  if (list === null) return null;
  if (!Array.isArray(list)) return undefined;
  const [start, id, index] = list as unknown[];
  const isStart = typeof start === 'string' && parseInstant(start).kind === 'instant';
  return isStart && isId(id) && isId(index) ? { start, id, index } : undefined;
}

const isId = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxId;

/** Returns a digest that is equal for equal fields in any order. */
function digest(request: object): string {
  const fields = Object.entries(request).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url').slice(0, 16);
}
