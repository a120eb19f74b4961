/** Which of the known bookings an event is about (D65, D79). */
import type { Instant } from '#libs/time';
import type { Seat } from './seats.ts';

/** A request of attendees with seats: once it is answered they have left the booking of `formerUid` for the one of `uid`. */
export interface SeatRequest {
  readonly uid: string;
  readonly formerUid: string;
  /** When each attendee asked, by key. */
  readonly attendees: ReadonlyMap<string, Instant>;
}

interface Row {
  readonly id: number;
  readonly identifier: string;
}

/** The bookings that a chain of uids names, in their order: the first decides, the others are the same booking. */
export function chooseBookings<Found extends Row>(uids: readonly string[], found: readonly Found[]): Found[] {
  const rows = uids.flatMap((uid) => found.filter(({ identifier }) => identifier === uid));
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** The booking of the first number that is known; several of one number cannot be told apart. */
export function chooseNumbered<Found extends Row>(numbers: readonly string[], found: readonly Found[]): Found[] {
  for (const number of numbers) {
    const rows = found.filter(({ identifier }) => identifier === number);
    if (rows.length > 0) return rows;
  }
  return [];
}

/**
 * The attendees of a request who have left the booking before it, since they asked: an event of then or later says of them that they are, or were,
 * in the booking that they asked for. `since`: up to then nobody is in that one.
 */
export function findAnswered({ attendees }: SeatRequest, seats: readonly Seat[], since: Instant | undefined): Seat[] {
  return [...attendees].flatMap(([attendee, at]) => {
    const seat = seats.find((item) => item.attendee === attendee);
    const isAnswered = (seat !== undefined && seat.at >= at) || (since !== undefined && since >= at);
    return isAnswered ? [{ attendee, personId: seat?.personId ?? null, state: 'moved', at }] : [];
  });
}
