/** Finds the known bookings that match an event, with or without locks (D65, D79). */
import { RetryLater } from '#libs/infrastructure/jobs';
import type { Queryable } from '#libs/infrastructure/sql';
import { parseSqlInstant } from '../../representation.ts';
import { type BookingEvent, identifiersOf, stripUidPrefix } from '../rules/booking-event.ts';
import { chooseBookings, chooseNumbered, type SeatRequest } from '../rules/seats.ts';
import { findLinked, findRequests } from '../statements/attendance.ts';
import {
  findBookings,
  findNumbered,
  lockBookings,
  lockIdentifiers,
  lockNumbered,
  type MatchedRow,
} from '../statements/booking.ts';

/** Bookings linked with an event by reschedule requests (D79). */
interface Chain {
  /** `uid:…` of the event, then all linked uids. */
  readonly uids: readonly string[];
  /** For events with seats: reschedule requests of the named attendees. */
  readonly requests: readonly SeatRequest[];
}

export interface Match extends Chain {
  /**
   * The first one is the booking of the event. Without seats, further rows are parts of the same booking that are not
   * merged yet. Empty when the booking is unknown.
   */
  readonly bookings: readonly MatchedRow[];
  /** True when a number matches several bookings. */
  readonly isAmbiguous: boolean;
}

export async function findMatch(db: Queryable, event: BookingEvent, hostId: number): Promise<Match> {
  return match(db, event, hostId, { chain: await findChain(db, event), byUids: findBookings, byNumbers: findNumbered });
}

/**
 * Finds the bookings of an event, with locks on all linked identifiers until the end of the transaction.
 * @throws RetryLater when another request linked more bookings before the locks were acquired
 */
export async function lockMatch(tx: Queryable, event: BookingEvent, hostId: number): Promise<Match> {
  const before = await findChain(tx, event);
  await lockIdentifiers(tx, { identifiers: before.uids.length > 0 ? before.uids : identifiersOf(event) });
  const chain = await findChain(tx, event);
  if (chain.uids.some((uid) => !before.uids.includes(uid)))
    throw new RetryLater('The booking was linked with another at the same time', { delayMs: 0 });
  return match(tx, event, hostId, { chain, byUids: lockBookings, byNumbers: lockNumbered });
}

interface Lookups {
  readonly chain: Chain;
  readonly byUids: typeof findBookings;
  readonly byNumbers: typeof findNumbered;
}

async function match(
  db: Queryable,
  event: BookingEvent,
  hostId: number,
  { chain, byUids, byNumbers }: Lookups,
): Promise<Match> {
  if (event.uids.length === 0) {
    const numbered = chooseNumbered(event.matchers, await byNumbers(db, { numbers: event.matchers, hostId }));
    return { ...chain, bookings: numbered, isAmbiguous: numbered.length > 1 };
  }
  const found = await byUids(db, { identifiers: chain.uids });
  const own = event.hasSeats ? [`uid:${event.uid ?? event.rescheduleUid ?? ''}`] : chain.uids;
  return { ...chain, bookings: chooseBookings(own, found), isAmbiguous: false };
}

async function findChain(db: Queryable, event: BookingEvent): Promise<Chain> {
  const uids = event.uids.map(stripUidPrefix);
  if (uids.length === 0) return { uids: [], requests: [] };
  const requests = event.hasSeats ? await listRequests(db, event, uids) : [];
  const linked = event.hasSeats
    ? requests.flatMap(({ uid, formerUid }) => [uid, formerUid])
    : await listLinked(db, uids);
  return { uids: [...new Set([...event.uids, ...linked.map((uid) => `uid:${uid}`)])], requests };
}

const listLinked = async (db: Queryable, uids: readonly string[]): Promise<string[]> =>
  (await findLinked(db, { uids })).map(({ uid }) => uid);

/**
 * Returns the reschedule requests of the event's attendees. A cancellation without attendees applies to all attendees.
 */
async function listRequests(
  db: Queryable,
  { trigger, attendees }: BookingEvent,
  uids: readonly string[],
): Promise<SeatRequest[]> {
  const isOfAll = trigger === 'BOOKING_CANCELLED' && attendees.length === 0;
  const rows = await findRequests(db, { uids, attendees: isOfAll ? null : attendees.map(({ key }) => key) });
  const links = Map.groupBy(rows, ({ uid, former_uid: formerUid }) => JSON.stringify([uid, formerUid]));
  return [...links.values()].flatMap((requested) => {
    const [first] = requested;
    const attendees = new Map(requested.map(({ attendee, at }) => [attendee, parseSqlInstant(at)]));
    return first === undefined ? [] : [{ uid: first.uid, formerUid: first.former_uid, attendees }];
  });
}
