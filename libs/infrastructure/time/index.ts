/**
 * Instants with microseconds. Input and output never use a millisecond type (rules/http#datetimes-out): text is passed
 * to PostgreSQL as text; arithmetic uses microseconds since the epoch as bigint.
 */

/** Microseconds since 1970-01-01T00:00:00Z, years 0001 to 9999. */
export type Instant = bigint;

export type ParsedInstant =
  | { kind: 'instant'; instant: Instant }
  | { kind: 'naive'; instant: Instant }
  | { kind: 'invalid' };

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?$/;
const minInstant = BigInt(Date.UTC(2000, 0, 1)) * 1000n - 63_082_281_600_000_000n; // 0001-01-01T00:00:00Z
const maxInstant = BigInt(Date.UTC(9999, 11, 31, 23, 59, 59)) * 1000n + 999_999n;

/**
 * Parses an ISO 8601 date and time. Digits beyond the microsecond are dropped. `naive`: without offset, read as UTC. A
 * date without time, an impossible date or a year outside 0001 to 9999 (in UTC) is invalid.
 */
export function parseInstant(text: string): ParsedInstant {
  const match = pattern.exec(text);
  if (match === null) return { kind: 'invalid' };
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '0',
    fraction = '',
    zulu,
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second), 0);
  const real =
    date.getUTCFullYear() === Number(year) &&
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(offsetHour) < 24 &&
    Number(offsetMinute) < 60;
  if (!real) return { kind: 'invalid' };
  const offset = BigInt(Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000_000n * (sign === '-' ? -1n : 1n);
  const instant = BigInt(date.getTime()) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6)) - offset;
  if (instant < minInstant || instant > maxInstant) return { kind: 'invalid' };
  return { kind: zulu === undefined && sign === undefined ? 'naive' : 'instant', instant };
}

/**
 * Formats an instant as `2026-05-01T10:00:00Z`, with six fraction digits when the microseconds are not zero
 * (rules/http#datetimes-out). `suffix`: `+00:00` instead of `Z`.
 */
export function formatInstant(instant: Instant, suffix: 'Z' | '+00:00' = 'Z'): string {
  const micros = ((instant % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((instant - micros) / 1000n)).toISOString().slice(0, 19);
  return `${seconds}${micros === 0n ? '' : `.${micros.toString().padStart(6, '0')}`}${suffix}`;
}

/** A clock passed to services so that tests can replace it. */
export interface Clock {
  now(): Instant;
}

/** The system time, with a precision of milliseconds. */
export const systemClock: Clock = { now: () => BigInt(Date.now()) * 1000n };

/**
 * Returns the milliseconds from `now` (milliseconds since the epoch) until the time in a `Retry-After` header, which
 * contains seconds or an HTTP date (RFC 9110, 10.2.3). Returns 0 for a past date, and undefined for an absent or
 * invalid header.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
