/** Values of options and arguments on the command line. */
import { InvalidArgumentError } from 'commander';
import { type ListKind, type MergedCursor, type Position, decodePosition, decodeMergedCursor } from '#libs/merged-list';

/** An id on the command line. @throws InvalidArgumentError */
export function parseId(text: string): number {
  const id = Number(text);
  if (!/^[0-9]+$/.test(text) || id < 1 || id > 2_147_483_647) throw new InvalidArgumentError('must be an id.');
  return id;
}

/** The most rows that a list prints. @throws InvalidArgumentError */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^[0-9]+$/.test(text) || limit < 1 || limit > 1_000) throw new InvalidArgumentError('must be 1 to 1000.');
  return limit;
}

/** Rows before the page of a list. @throws InvalidArgumentError */
export function parseOffset(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number, 0 or more.');
  return Number(text);
}

/** Reads where a page begins, which the API, the console and the page before tell. @throws InvalidArgumentError */
export const parseCursor =
  (list: ListKind) =>
  (text: string): Position =>
    decodePosition(list, text) ?? refuse();

/** The same of a list of several services. @throws InvalidArgumentError */
export const parseMergedCursor =
  (list: ListKind) =>
  (text: string): MergedCursor =>
    decodeMergedCursor(list, text) ?? refuse();

function refuse(): never {
  throw new InvalidArgumentError('must be what the page before tells.');
}

export const cursorText = 'the page after, as the page before tells';

const secondsOf: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600, d: 86_400 };

/** A time on the command line, as an instant: a date, an instant with its offset, or how long ago. @throws InvalidArgumentError */
export function parseTime(text: string, now: number = Date.now()): string {
  const [, count, unit] = /^(\d{1,6})(s|min|h|d)$/.exec(text) ?? [];
  const at = unit === undefined ? readInstant(text) : now - Number(count) * (secondsOf[unit] ?? 0) * 1_000;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('must be a date (2026-05-01), an instant (2026-05-01T10:00:00Z) or how long ago (30min, 2h, 7d).');
  // An instant stays as precise as it was written.
  return unit === undefined && text.includes('T') ? text : new Date(at).toISOString();
}

function readInstant(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : NaN;
}
