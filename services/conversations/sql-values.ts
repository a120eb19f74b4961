/** Instants and ids as PostgreSQL shows them. */
import { type Instant, parseInstant } from '#libs/time';

/** An instant of SQL (UTC, no offset) as clients see it (rules/http#datetimes-out): `Z`, six digits of fraction or none. */
export function instantFromSql(text: string): string {
  const dot = text.indexOf('.');
  if (dot < 0) return `${text.slice(0, 10)}T${text.slice(11)}Z`;
  return `${text.slice(0, 10)}T${text.slice(11, dot)}.${text.slice(dot + 1).padEnd(6, '0')}Z`;
}

/** The same, or null. */
export const instantOrNull = (text: string | null): string | null => (text === null ? null : instantFromSql(text));

/** The same as microseconds. */
export function parseSqlInstant(text: string): Instant {
  const parsed = parseInstant(instantFromSql(text));
  if (parsed.kind !== 'instant') throw new Error('SQL gave no instant in UTC');
  return parsed.instant;
}

/** `"…Z"` or `null`. */
export const quoteInstant = (text: string | null): string => (text === null ? 'null' : `"${instantFromSql(text)}"`);

/** Ids of an array of SQL, `{1,2}`. */
export function idsFromSql(array: string): number[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',').map(Number);
}
