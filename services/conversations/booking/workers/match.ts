/** The known bookings that an event is about, as they are or locked (D65, D79). */
import type { Queryable } from '#libs/sql';
import { type BookingEvent, identifiersOf } from '../rules/booking-event.ts';
import { type BookingLink, chooseBookings, chooseNumbered, linkUids, listMoves, type Move } from '../rules/match.ts';
import { findLinks } from '../statements/attendance.ts';
import { findBookings, findNumbered, lockBookings, lockIdentifiers, lockNumbered, type MatchedRow } from '../statements/booking.ts';

export interface Match {
  /** The first is the booking; without seats the others are the same. Empty: it is not known. */
  readonly bookings: readonly MatchedRow[];
  /** A number names several. */
  readonly isAmbiguous: boolean;
  /** With seats: what its attendees leave for it. `booking` undefined: not known. */
  readonly moves: readonly (Move & { readonly booking: MatchedRow | undefined })[];
}

export async function findMatch(db: Queryable, event: BookingEvent, hostId: number): Promise<Match> {
  return match(db, event, hostId, { byUids: findBookings, byNumbers: findNumbered });
}

/** The same under locks on what the event names, until the end of the transaction. */
export async function lockMatch(tx: Queryable, event: BookingEvent, hostId: number): Promise<Match> {
  await lockIdentifiers(tx, { identifiers: identifiersOf(event) });
  return match(tx, event, hostId, { byUids: lockBookings, byNumbers: lockNumbered });
}

interface Ways {
  readonly byUids: typeof findBookings;
  readonly byNumbers: typeof findNumbered;
}

async function match(db: Queryable, event: BookingEvent, hostId: number, { byUids, byNumbers }: Ways): Promise<Match> {
  if (event.uids.length === 0) {
    const numbered = chooseNumbered(event.matchers, await byNumbers(db, { numbers: event.matchers, hostId }));
    return { bookings: numbered, isAmbiguous: numbered.length > 1, moves: [] };
  }
  const own = event.uids.map((uid) => uid.slice('uid:'.length));
  const links = (await findLinks(db, { uids: own })).map((row): BookingLink => ({
    ...row,
    attendees: JSON.parse(row.attendees) as string[],
  }));
  if (!event.hasSeats) {
    const uids = linkUids(event, links);
    return { bookings: chooseBookings(uids, await byUids(db, { identifiers: uids })), isAmbiguous: false, moves: [] };
  }
  const moves = listMoves(event, links);
  const identifier = `uid:${event.uid ?? event.rescheduleUid ?? ''}`;
  const identifiers = [identifier, ...moves.map(({ formerUid }) => `uid:${formerUid}`)];
  const found = await byUids(db, { identifiers });
  const bookings = chooseBookings([identifier], found);
  const withBookings = moves.map((move) => ({ ...move, booking: chooseBookings([`uid:${move.formerUid}`], found)[0] }));
  return {
    bookings,
    isAmbiguous: false,
    moves: withBookings.filter(({ booking }) => booking === undefined || booking.id !== bookings[0]?.id),
  };
}
