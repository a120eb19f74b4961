/** A request to reschedule: the booking that it asks for follows another, once it is confirmed (D79, D102). */
import type { Tx } from '#libs/orm';
import type { Dependencies } from '../../dependencies.ts';
import type { Settlement } from '../../receipts/index.ts';
import { addLink } from '../statements/attendance.ts';
import type { BookingRow } from '../statements/booking.ts';
import { findSeats } from './create.ts';
import type { Match } from './match.ts';
import { mergeBookings } from './merge.ts';
import type { PreparedEvent } from './prepare.ts';
import { leaveBooking } from './seats.ts';

/** Stores the link. What was confirmed before the request came is joined as if it had come before. */
export async function storeLink(dependencies: Dependencies, tx: Tx, match: Match, prepared: PreparedEvent): Promise<Settlement> {
  const { uid, rescheduleUid, hasSeats, attendees } = prepared.event;
  if (uid === null || rescheduleUid === null || uid === rescheduleUid)
    return { outcome: 'ignored', message: 'A request that reschedules nothing; its confirmation counts.' };
  await addLink(tx, { uid, formerUid: rescheduleUid, attendees: hasSeats ? attendees.map(({ key }) => key) : [] });
  const linked: Settlement = { outcome: 'applied', message: 'The link to the booking before it is stored.' };
  const [first, ...others] = match.bookings;
  if (first === undefined) return linked;
  if (hasSeats) await leaveConfirmed(dependencies, tx, first, match, prepared);
  else {
    let booking: BookingRow = first;
    for (const other of others) booking = await mergeBookings(dependencies, tx, booking, other, prepared);
  }
  return linked;
}

/** Attendees who are in the booking that was asked for have left the one before it. */
async function leaveConfirmed(
  dependencies: Dependencies,
  tx: Tx,
  next: BookingRow,
  { moves }: Match,
  prepared: PreparedEvent,
): Promise<void> {
  const since = new Map((await findSeats(tx, next.id)).filter(({ state }) => state === 'in').map(({ attendee, at }) => [attendee, at]));
  for (const move of moves) {
    const guests = prepared.guests.flatMap((guest) => {
      const at = move.attendees.includes(guest.key) ? since.get(guest.key) : undefined;
      return at === undefined ? [] : [{ ...guest, at }];
    });
    if (guests.length > 0) await leaveBooking(dependencies, tx, { ...move, guests, next }, prepared);
  }
}
