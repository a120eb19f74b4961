/** Builds `config.booking` and the texts of booking notes (D19). */
import { isJsonObject, parseJson, type JsonObject } from '#libs/infrastructure/json';
import { formatInstant, type Instant } from '#libs/infrastructure/time';
import { parseSqlInstant } from '../../representation.ts';
import type { ConversationRow } from '../../statements.ts';
import type { BookingEvent } from './booking-event.ts';

/**
 * Returns `config.booking` after an event; absent fields retain their values. `uids` contains the known uids of the
 * reschedule chain.
 */
export function bookingConfig(
  event: BookingEvent,
  at: Instant,
  uids: readonly string[],
  before: JsonObject,
): JsonObject {
  return {
    provider: 'cal.com',
    uid: event.uid ?? before['uid'] ?? null,
    uids,
    booking_id: event.bookingId ?? before['booking_id'] ?? null,
    title: event.title ?? before['title'] ?? null,
    last_event_at: formatInstant(at),
  };
}

/** Returns the stored `config.booking`. */
export function storedBooking(row: ConversationRow): JsonObject {
  const config = parseJson(row.config);
  const booking = isJsonObject(config) ? config['booking'] : undefined;
  return isJsonObject(booking) ? booking : {};
}

/** Returns the booking's title in quotes, else its uid. */
export function titleOf(event: BookingEvent, before: JsonObject = {}): string {
  return quote(event.title ?? before['title'] ?? event.uid);
}

/** Returns the title of a stored booking in quotes, else its uid. */
export const titleOfStored = (booking: JsonObject): string => quote(booking['title'] ?? booking['uid']);

const quote = (title: unknown): string => (typeof title === 'string' ? `"${title}"` : 'without a title');

export interface Bounds {
  readonly start: Instant | undefined;
  readonly finish: Instant | undefined;
}

/** Returns the stored start and finish. */
export function boundsOf(row: ConversationRow): Bounds {
  return { start: optionalInstant(row.start), finish: optionalInstant(row.finish) };
}

/** Returns the bounds after an event. Absent times retain their values; the finish is never before the start. */
export function nextBounds(stored: Bounds, event: Bounds): Bounds {
  const [start, finish] = [event.start ?? stored.start, event.finish ?? stored.finish];
  return { start, finish: start !== undefined && finish !== undefined && finish < start ? start : finish };
}

export function describeBounds({ start, finish }: Bounds): string {
  return `${formatOptionalInstant(start) ?? 'no start'} to ${formatOptionalInstant(finish) ?? 'open end'}`;
}

/** Returns an instant as text for PostgreSQL and notes. */
export const formatOptionalInstant = (instant: Instant | undefined): string | null =>
  instant === undefined ? null : formatInstant(instant);

const optionalInstant = (text: string | null): Instant | undefined =>
  text === null ? undefined : parseSqlInstant(text);
