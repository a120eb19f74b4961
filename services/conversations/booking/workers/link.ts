/** A request to reschedule: the booking that it asks for follows another, once it is confirmed (D79, D102). */
import type { Tx } from '#libs/orm';
import { formatInstant } from '#libs/time';
import type { Dependencies } from '../../dependencies.ts';
import type { Settlement } from '../../receipts/index.ts';
import type { BookingEvent } from '../rules/booking-event.ts';
import { addLink } from '../statements/attendance.ts';
import type { BookingRow } from '../statements/booking.ts';
import { lockMatch, type Match } from './match.ts';
import { mergeBookings } from './merge.ts';
import type { PreparedEvent } from './prepare.ts';
import { followRequests } from './seats.ts';

/** It names two bookings, of which the one follows the other. */
export const isLink = ({ uid, rescheduleUid }: BookingEvent): boolean => uid !== null && rescheduleUid !== null && uid !== rescheduleUid;

/** Stores the link. What was confirmed before the request came is joined as if it had come before. */
export async function storeLink(dependencies: Dependencies, tx: Tx, match: Match, prepared: PreparedEvent): Promise<Settlement> {
  const { event, at, personId } = prepared;
  const { uid, rescheduleUid, hasSeats, attendees } = event;
  if (uid === null || rescheduleUid === null || uid === rescheduleUid)
    return { outcome: 'ignored', message: 'A request that reschedules nothing; its confirmation counts.' };
  const keys = hasSeats ? attendees.map(({ key }) => key) : [];
  await addLink(tx, { uid, formerUid: rescheduleUid, attendees: keys, at: formatInstant(at) });
  if (keys.length > 0) await followRequests(dependencies, tx, await lockMatch(tx, event, personId), prepared);
  else {
    const [first, ...others] = match.bookings;
    let booking: BookingRow | undefined = first;
    for (const other of others) if (booking !== undefined) booking = await mergeBookings(dependencies, tx, booking, other, prepared);
  }
  return { outcome: 'applied', message: 'The link to the booking before it is stored.' };
}
