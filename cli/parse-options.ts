/** Parses values of options and arguments on the command line. */
import { InvalidArgumentError, Option } from 'commander';

/** Parses an id. @throws InvalidArgumentError */
export function parseId(text: string): number {
  const id = Number(text);
  if (!/^[0-9]+$/.test(text) || id < 1 || id > 2_147_483_647) throw new InvalidArgumentError('must be an id.');
  return id;
}

/** Parses a page size. @throws InvalidArgumentError */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^[0-9]+$/.test(text) || limit < 1 || limit > 1_000)
    throw new InvalidArgumentError('must be between 1 and 1000.');
  return limit;
}

/** Parses the number of rows to skip. @throws InvalidArgumentError */
export function parseOffset(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number, 0 or more.');
  return Number(text);
}

/** Returns an option of an earlier release, which is still accepted but not listed by --help. */
export const hiddenOption = (flags: string): Option => new Option(flags).hideHelp();

export const cursorText = 'next page, as printed by the previous page';

const secondsOf: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600, d: 86_400 };

/** Returns an instant in RFC 3339, from a date, an instant or an age. @throws InvalidArgumentError */
export function parseTime(text: string, now: number = Date.now()): string {
  const [, count, unit] = /^(\d{1,6})(s|min|h|d)$/.exec(text) ?? [];
  const at = unit === undefined ? readInstant(text) : now - Number(count) * (secondsOf[unit] ?? 0) * 1_000;
  if (Number.isNaN(at))
    throw new InvalidArgumentError(
      'must be a date (2026-05-01), an instant (2026-05-01T10:00:00Z) or an age (30min, 2h, 7d).',
    );
  // An instant is returned unchanged, so that its precision is retained.
  return unit === undefined && text.includes('T') ? text : new Date(at).toISOString();
}

function readInstant(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : NaN;
}
