import { InvalidArgumentError } from 'commander';

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
