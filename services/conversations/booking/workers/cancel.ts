/** The end of a booked conversation (rules/bookings#booking-webhook; D19a). */
import type { Tx } from '#libs/orm';
import { formatInstant } from '#libs/time';
import { directory } from '#services/directory';
import { deleteConversation } from '../../deletion/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { tellApplied } from '../../feed/index.ts';
import type { Settlement } from '../../receipts/index.ts';
import { idsFromSql } from '../../sql-values.ts';
import type { ConversationRow } from '../../statements.ts';
import { lockConversation } from '../../statements.ts';
import { boundsOf, describeBounds, storedBooking, titleOf } from '../rules/booking-text.ts';
import { type BookingRow, updateBooking } from '../statements.ts';
import type { PreparedEvent } from './prepare.ts';

/** Cancels the locked booking; one that is cancelled already stays so. */
export async function cancelBooking(dependencies: Dependencies, tx: Tx, booking: BookingRow, prepared: PreparedEvent): Promise<Settlement> {
  const row = booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  // First the conversation, which remembers the booking that it still has.
  if (row !== undefined) await removeBooked(dependencies, tx, row, prepared);
  await updateBooking(tx, { id: booking.id, conversationId: null, lastEventAt: formatInstant(prepared.at), cancelled: true });
  if (row === undefined) return { outcome: 'applied', message: 'The booking was cancelled already.' };
  tellApplied(dependencies.news, tx, row.id, prepared.event.trigger);
  return { outcome: 'applied', message: 'Conversation deleted.', conversationId: row.id };
}

/** The note goes to every participant and is not the locked conversation's, which is deleted. */
export async function removeBooked(
  { jobs, news, clock }: Dependencies,
  tx: Tx,
  row: ConversationRow,
  { event, receiptId, run }: PreparedEvent,
): Promise<void> {
  const reason = event.cancellationReason === null ? '' : ` Reason: ${event.cancellationReason}`;
  const note = {
    key: `booking-cancelled:${receiptId}:${row.id}`,
    person_ids: idsFromSql(row.participants),
    body: `Booking cancelled: ${titleOf(event, storedBooking(row))}, ${describeBounds(boundsOf(row))}.${reason}`,
    note_type: 'booking',
    author_person_id: null,
  };
  await jobs.enqueue(tx, directory.jobs.noteAdd, note, { requestId: run.requestId });
  const at = formatInstant(clock.now());
  await deleteConversation({ jobs, news }, tx, { id: row.id, at, reason: 'booking_cancelled', by: `receipt ${receiptId}` });
}
