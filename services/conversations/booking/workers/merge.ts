/**
 * Merges two reschedule chains of the same booking whose link was received late. Their conversations are merged, or
 * deleted when the later chain is cancelled, so that a booking never has two conversations.
 */
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { conversations } from '../../contract.ts';
import { deleteConversation } from '../../deletion/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { emitAccessUpdated } from '../../feed/index.ts';
import { deriveState, moveQuestionChanges } from '../../questions/index.ts';
import { parseSqlInstant } from '../../representation.ts';
import { lockConversation } from '../../statements.ts';
import {
  type BookingRow,
  deleteBooking,
  joinConversations,
  moveBooking,
  updateBooking,
} from '../statements/booking.ts';
import { describeRemoval, removeBooked } from './cancel.ts';
import type { PreparedEvent } from './prepare.ts';

/**
 * Merges the locked booking `other` into the locked booking `booking`. The later booking determines bounds,
 * `config.booking` and whether the result is cancelled.
 */
export async function mergeBookings(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow,
  other: BookingRow,
  prepared: PreparedEvent,
): Promise<BookingRow> {
  const latest = parseSqlInstant(other.last_event_at) > parseSqlInstant(booking.last_event_at) ? other : booking;
  const conversationId = latest.cancelled
    ? await removeAll(dependencies, tx, [booking, other], prepared)
    : await joinActive(dependencies, tx, booking, other, {
        sourceIsLater: latest === other,
        receiptId: prepared.receiptId,
      });
  await moveBooking(tx, { from: other.id, to: booking.id });
  await deleteBooking(tx, { id: other.id });
  const cancelled = conversationId === null;
  await updateBooking(tx, { id: booking.id, conversationId, lastEventAt: `${latest.last_event_at}+00`, cancelled });
  return { ...booking, conversation_id: conversationId, cancelled, last_event_at: latest.last_event_at };
}

async function removeAll(
  dependencies: Dependencies,
  tx: Tx,
  bookings: readonly BookingRow[],
  prepared: PreparedEvent,
): Promise<null> {
  for (const { conversation_id: id } of bookings) {
    const row = id === null ? undefined : await lockConversation(tx, { id });
    if (row !== undefined) await removeBooked(dependencies, tx, row, describeRemoval(row, prepared));
  }
  return null;
}

async function joinActive(
  { jobs, eventOutbox, clock }: Dependencies,
  tx: Tx,
  { conversation_id: target }: BookingRow,
  { conversation_id: source }: BookingRow,
  { sourceIsLater, receiptId }: { sourceIsLater: boolean; receiptId: number },
): Promise<number | null> {
  if (target === null || source === null || target === source) return target ?? source;
  await lockConversation(tx, { id: target });
  await lockConversation(tx, { id: source });
  await joinConversations(tx, { target, source, sourceIsLater });
  await emitAccessUpdated(eventOutbox, tx, [target]);
  await jobs.emit(tx, conversations.events.changed, { id: target });
  const moved = await moveQuestionChanges(tx, { from: source, to: target });
  if (moved.length > 0) await deriveState(tx, target);
  const deletion = { reason: 'bookings_joined', by: `receipt ${receiptId}` } as const;
  await deleteConversation({ jobs, eventOutbox }, tx, { id: source, at: formatInstant(clock.now()), ...deletion });
  return target;
}
