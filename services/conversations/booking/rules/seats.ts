/**
 * Who is in a booking with seats. All seats share one uid and an event speaks only for the attendees that it names (D78): of each attendee the latest
 * event decides, so that the order of delivery makes no difference (D102).
 */
import type { Instant } from '#libs/time';

export type SeatState = 'in' | 'moved' | 'gone';

export interface Seat {
  /** Key of the attendee. */
  readonly attendee: string;
  /** Null while the attendee is nobody in the directory. */
  readonly personId: number | null;
  readonly state: SeatState;
  /** The provider's time of the event that incoming so. */
  readonly at: Instant;
}

/** What counts of two events of one time. */
const ranks: Readonly<Record<SeatState, number>> = { in: 0, moved: 1, gone: 2 };

function isLater(one: Seat, other: Seat): boolean {
  return one.at === other.at ? ranks[one.state] > ranks[other.state] : one.at > other.at;
}

/** The seats that change by what an event says of attendees; those of which a later event is known do not. */
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
  /** Events up to then count no more: the booking was cancelled as a whole. */
  readonly since: Instant | undefined;
  /** People who bring a seat's attendees and have none themselves. */
  readonly hosts: readonly number[];
}

/** One for each attendee: somebody who is named in two ways has what the later event says. */
function listSeats({ seats, hosts }: Seating): Seat[] {
  const guests = seats.filter(({ personId }) => personId === null || !hosts.includes(personId));
  const groups = Map.groupBy(guests, ({ attendee, personId }) => (personId === null ? attendee : personId));
  return [...groups.values()].map((group) => group.reduce((latest, seat) => (isLater(seat, latest) ? seat : latest)));
}

/** In an order that does not depend on that of delivery. */
export function findPresent(seating: Seating): Seat[] {
  return listSeats(seating)
    .filter(({ state, at }) => state === 'in' && (seating.since === undefined || at > seating.since))
    .toSorted((one, other) => Number(one.at - other.at) || (one.personId ?? 0) - (other.personId ?? 0));
}

/** Every attendee named so far is gone. */
export function hasNoGuests(seating: Seating): boolean {
  return findPresent(seating).length === 0 && (seating.since !== undefined || listSeats(seating).length > 0);
}

/** Participants with those who are in, without those who are not; everybody else stays. */
export function seatParticipants(participants: readonly number[], seating: Seating): number[] {
  const guests = new Set(listSeats(seating).map(({ personId }) => personId));
  const present = findPresent(seating).flatMap(({ personId }) => personId ?? []);
  return [...new Set([...participants.filter((id) => !guests.has(id)), ...present])];
}

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
export function findMovedGuests({ attendees }: SeatRequest, seats: readonly Seat[], since: Instant | undefined): Seat[] {
  return [...attendees].flatMap(([attendee, at]) => {
    const seat = seats.find((item) => item.attendee === attendee);
    const isAnswered = (seat !== undefined && seat.at >= at) || (since !== undefined && since >= at);
    return isAnswered ? [{ attendee, personId: seat?.personId ?? null, state: 'moved', at }] : [];
  });
}
