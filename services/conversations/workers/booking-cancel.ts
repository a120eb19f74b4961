/** The end of a booked conversation (spec 01, Events: BOOKING_CANCELLED; spec 03, D19a). */
import type { Tx } from '#libs/orm';
import { formatInstant } from '#libs/time';
import { directory } from '#services/directory';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { boundsOf, describeBounds, storedBooking, titleOf } from '../domain/booking-text.ts';
import { idsFromSql, type ConversationRow } from '../domain/representation.ts';
import { updateBooking } from '../repositories/booking.ts';
import { deleteConversation, lockConversation } from '../repositories/conversation.ts';
import type { Settlement } from '../repositories/receipt.ts';
import type { BookingRow, PreparedEvent } from './booking-event.ts';

/** Cancels the locked booking; one that is cancelled already stays so. */
export async function cancelBooking(dependencies: Dependencies, tx: Tx, booking: BookingRow, prepared: PreparedEvent): Promise<Settlement> {
  const [row] = booking.conversation_id === null ? [] : await tx.query<ConversationRow>(lockConversation, [booking.conversation_id]);
  await tx.query(updateBooking, [booking.id, null, formatInstant(prepared.at), true]);
  if (row === undefined) return { outcome: 'applied', message: 'The booking was cancelled already.' };
  await removeBooked(dependencies, tx, row, prepared);
  return { outcome: 'applied', message: 'Conversation deleted.', conversationId: row.id };
}

/** The note goes to every participant and outlives the locked conversation, which is deleted with all that hangs on it. */
export async function removeBooked(
  { jobs }: Dependencies,
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
  await tx.query(deleteConversation, [row.id]);
  await jobs.emit(tx, conversations.events.deleted, { id: row.id });
}
