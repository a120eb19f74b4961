/** A booking for which another time was asked for, and none was given, is cancelled in the end (D81). */
import type { Tx } from '#libs/orm';
import { formatInstant } from '#libs/time';
import type { Dependencies } from '../../dependencies.ts';
import { lockConversation } from '../../statements.ts';
import { storedBooking, titleOfStored } from '../rules/booking-text.ts';
import { type BookingRow, lockUnanswered, updateBooking } from '../statements/booking.ts';
import { removeBooked } from './cancel.ts';

export const cancelUnansweredEveryMs = 5_000;

/** How long a conversation waits for another time. */
const patienceMicros = 30n * 86_400_000_000n;

/** Bookings of one transaction. */
const batch = 50;

/** In each replica; they share the work. */
export async function cancelUnanswered(dependencies: Dependencies): Promise<void> {
  const { jobs, clock } = dependencies;
  for (let full = true; full;) {
    full = await jobs.transaction(async (tx) => {
      const bookings = await lockUnanswered(tx, { requestedBefore: formatInstant(clock.now() - patienceMicros), limit: batch });
      for (const booking of bookings) await cancel(dependencies, tx, booking);
      return bookings.length === batch;
    });
  }
}

async function cancel(dependencies: Dependencies, tx: Tx, booking: BookingRow): Promise<void> {
  const row = booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  if (row !== undefined) {
    await removeBooked(dependencies, tx, row, {
      key: `booking-unanswered:${booking.id}:${row.id}`,
      note: `Booking cancelled: ${titleOfStored(storedBooking(row))}. Another time was asked for 30 days ago, and none was given.`,
      by: 'request to reschedule',
      requestId: undefined,
    });
  }
  await updateBooking(tx, {
    id: booking.id,
    conversationId: null,
    lastEventAt: `${booking.last_event_at}+00`,
    cancelled: row !== undefined || booking.cancelled,
  });
}
