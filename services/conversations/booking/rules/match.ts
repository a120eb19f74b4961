/** Which of the known bookings an event is about (D65, D79). */
import type { BookingEvent } from './booking-event.ts';

/** A request to reschedule: the booking of `uid` follows that of `former_uid`. */
export interface BookingLink {
  readonly uid: string;
  readonly former_uid: string;
  /** With seats: keys of the attendees that it is about. */
  readonly attendees: readonly string[];
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

/** All uids of an event's booking: its own, then those that requests to reschedule link with them. */
export function linkUids({ uids, hasSeats }: BookingEvent, links: readonly BookingLink[]): string[] {
  if (hasSeats) return [...uids];
  const linked = links.filter(({ attendees }) => attendees.length === 0).flatMap((link) => [link.former_uid, link.uid]);
  return [...new Set([...uids, ...linked.map((uid) => `uid:${uid}`)])];
}

export interface Move {
  readonly formerUid: string;
  /** Keys of the attendees that leave it. */
  readonly attendees: readonly string[];
}

/** The bookings that attendees of an event with seats leave for its booking. */
export function listMoves({ uid, rescheduleUid, attendees }: BookingEvent, links: readonly BookingLink[]): Move[] {
  if (uid === null) return [];
  const named = attendees.map(({ key }) => key);
  const linked = links
    .filter((link) => link.uid === uid && link.former_uid !== uid && link.former_uid !== rescheduleUid)
    .map((link) => ({ formerUid: link.former_uid, attendees: named.filter((key) => link.attendees.includes(key)) }))
    .filter((move) => move.attendees.length > 0);
  if (rescheduleUid === null || rescheduleUid === uid) return linked;
  return [{ formerUid: rescheduleUid, attendees: named }, ...linked];
}
