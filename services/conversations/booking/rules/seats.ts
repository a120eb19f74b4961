/**
 * Seats of a booking. All seats share one uid, and an event applies only to the attendees that it names (D78). Per
 * attendee the latest event wins, so the order of delivery does not matter (D102).
 */
import type { Instant } from '#libs/infrastructure/time';

export type SeatState = 'in' | 'moved' | 'gone';

export interface Seat {
  /** Key of the attendee. */
  readonly attendee: string;
  /** Null while the attendee is not in the directory. */
  readonly personId: number | null;
  readonly state: SeatState;
  /** Provider's time of the event that determined the state. */
  readonly at: Instant;
}

/** Precedence of two states with the same event time; the higher rank wins. */
const ranks: Readonly<Record<SeatState, number>> = { in: 0, moved: 1, gone: 2 };

function isLater(one: Seat, other: Seat): boolean {
  return one.at === other.at ? ranks[one.state] > ranks[other.state] : one.at > other.at;
}

/** Returns the seats that change by incoming events. A seat with a later known event does not change. */
export function changeSeats(known: readonly Seat[], incoming: readonly Seat[]): Seat[] {
  const before = new Map(known.map((seat) => [seat.attendee, seat]));
  return incoming.flatMap((seat) => {
    const old = before.get(seat.attendee);
    if (old === undefined) return [seat];
    const personId = old.personId ?? seat.personId;
    if (isLater(seat, old)) return [{ ...seat, personId }];
    return personId === old.personId ? [] : [{ ...old, personId }];
  });
}

export interface Seating {
  readonly seats: readonly Seat[];
  /** Events up to this time are ignored, because the whole booking was cancelled. */
  readonly since: Instant | undefined;
  /** Hosts, who have no seats. */
  readonly hosts: readonly number[];
}

/** Returns one seat per guest. If a person is named under two keys, the later event wins. */
function listSeats({ seats, hosts }: Seating): Seat[] {
  const guests = seats.filter(({ personId }) => personId === null || !hosts.includes(personId));
  const groups = Map.groupBy(guests, ({ attendee, personId }) => (personId === null ? attendee : personId));
  return [...groups.values()].map((group) => group.reduce((latest, seat) => (isLater(seat, latest) ? seat : latest)));
}

/** Returns the seats of present guests, in an order that does not depend on delivery. */
export function findPresent(seating: Seating): Seat[] {
  return listSeats(seating)
    .filter(({ state, at }) => state === 'in' && (seating.since === undefined || at > seating.since))
    .toSorted((one, other) => Number(one.at - other.at) || (one.personId ?? 0) - (other.personId ?? 0));
}

/** Returns whether all attendees named so far have cancelled or moved. */
export function hasNoGuests(seating: Seating): boolean {
  return findPresent(seating).length === 0 && (seating.since !== undefined || listSeats(seating).length > 0);
}

/**
 * Returns the participants plus present guests and without absent guests. Participants that are not guests are
 * unchanged.
 */
export function seatParticipants(participants: readonly number[], seating: Seating): number[] {
  const guests = new Set(listSeats(seating).map(({ personId }) => personId));
  const present = findPresent(seating).flatMap(({ personId }) => personId ?? []);
  return [...new Set([...participants.filter((id) => !guests.has(id)), ...present])];
}

/**
 * A request of attendees with seats to reschedule. Once it is confirmed, the attendees have moved from `formerUid` to
 * `uid`.
 */
export interface SeatRequest {
  readonly uid: string;
  readonly formerUid: string;
  /** Time of each attendee's request, by attendee key. */
  readonly attendees: ReadonlyMap<string, Instant>;
}

interface Row {
  readonly id: number;
  readonly identifier: string;
}

/** Returns the bookings of a chain of uids, in order. The first booking survives, the others are merged into it. */
export function chooseBookings<Found extends Row>(uids: readonly string[], found: readonly Found[]): Found[] {
  const rows = uids.flatMap((uid) => found.filter(({ identifier }) => identifier === uid));
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Returns the bookings with the first known number. Several bookings with this number are ambiguous. */
export function chooseNumbered<Found extends Row>(numbers: readonly string[], found: readonly Found[]): Found[] {
  for (const number of numbers) {
    const rows = found.filter(({ identifier }) => identifier === number);
    if (rows.length > 0) return rows;
  }
  return [];
}

/**
 * Returns the attendees whose request is confirmed, because an event at or after the request names them in the
 * requested booking. `since` is the time up to which the requested booking has no guests.
 */
export function findMovedGuests(
  { attendees }: SeatRequest,
  seats: readonly Seat[],
  since: Instant | undefined,
): Seat[] {
  return [...attendees].flatMap(([attendee, at]) => {
    const seat = seats.find((item) => item.attendee === attendee);
    const isAnswered = (seat !== undefined && seat.at >= at) || (since !== undefined && since >= at);
    return isAnswered ? [{ attendee, personId: seat?.personId ?? null, state: 'moved', at }] : [];
  });
}
