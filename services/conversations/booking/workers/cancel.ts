/**
 * Cancels booked conversations, or removes their times until the guest reschedules (rules/bookings#booking-webhook;
 * D19a, D81).
 */
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { directory } from '#services/directory';
import { conversations } from '../../contract.ts';
import { deleteConversation } from '../../deletion/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { emitAccessUpdated, emitBookingApplied } from '../../feed/index.ts';
import type { Settlement } from '../../receipts/index.ts';
import { idsFromSql } from '../../representation.ts';
import { type ConversationRow, lockConversation } from '../../statements.ts';
import {
  bookingConfig,
  boundsOf,
  describeBounds,
  formatOptionalInstant,
  storedBooking,
  titleOf,
  titleOfStored,
} from '../rules/booking-text.ts';
import {
  markAwaitingTime,
  type BookingRow,
  lockUnanswered,
  markSeats,
  updateBooked,
  updateBooking,
} from '../statements/booking.ts';
import { addBookingNote, listChain } from './create.ts';
import type { PreparedEvent } from './prepare.ts';

/** Cancels the locked booking. Idempotent. */
export async function cancelBooking(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const row =
    booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  if (prepared.event.isSeries) await cancelSeries(dependencies, tx, booking.id, prepared, row);
  if (row !== undefined && prepared.event.requestsReschedule)
    return awaitNewTime(dependencies, tx, booking, row, prepared);
  // The conversation is deleted first, so that the deletion records its booking.
  if (row !== undefined) await removeBooked(dependencies, tx, row, describeRemoval(row, prepared));
  await updateBooking(tx, {
    id: booking.id,
    conversationId: null,
    lastEventAt: formatInstant(prepared.at),
    cancelled: true,
  });
  if (booking.has_seats) await markSeats(tx, { id: booking.id, since: formatInstant(prepared.at) });
  if (row === undefined) return { outcome: 'applied', message: 'The booking was already cancelled.' };
  emitBookingApplied(dependencies.eventOutbox, tx, row.id, 'cancelled');
  return { outcome: 'applied', message: 'Conversation deleted.', conversationId: row.id };
}

/**
 * Enqueues a job that requests the other occurrences of a series. Cal.com sends one event per series, even when several
 * occurrences are cancelled.
 */
export async function cancelSeries(
  { jobs }: Dependencies,
  tx: Tx,
  bookingId: number,
  { event, at, personId, receiptId, run }: PreparedEvent,
  row: ConversationRow | undefined,
): Promise<void> {
  const start = formatOptionalInstant(event.start ?? (row === undefined ? undefined : boundsOf(row).start));
  const about = { booking_id: bookingId, person_id: personId, receipt_id: receiptId };
  const payload = { ...about, start, uid: event.uid, at: formatInstant(at) };
  await jobs.enqueue(tx, conversations.jobs.bookingSeries, payload, { requestId: run.requestId });
}

/** Removes the times of the conversation until the guest has rescheduled. */
export async function awaitNewTime(
  { jobs, eventOutbox, clock }: Dependencies,
  tx: Tx,
  booking: BookingRow,
  row: ConversationRow,
  { event, at, receiptId }: PreparedEvent,
): Promise<Settlement> {
  const before = storedBooking(row);
  await updateBooked(tx, {
    id: row.id,
    start: null,
    finish: null,
    booking: JSON.stringify(bookingConfig(event, at, await listChain(tx, booking.id), before)),
    participantIds: idsFromSql(row.participants),
  });
  await markAwaitingTime(tx, {
    id: booking.id,
    lastEventAt: formatInstant(at),
    requestedAt: formatInstant(clock.now()),
  });
  const was = describeBounds(boundsOf(row));
  await addBookingNote(
    tx,
    row.id,
    receiptId,
    `Another time was asked for: ${titleOf(event, before)}, was ${was}.${describeReason(event)}`,
  );
  emitBookingApplied(eventOutbox, tx, row.id, 'booked');
  await emitAccessUpdated(eventOutbox, tx, [row.id]);
  await jobs.emit(tx, conversations.events.changed, { id: row.id });
  return { outcome: 'applied', message: 'The conversation waits for a new time.', conversationId: row.id };
}

export interface Removal {
  /** Key that deduplicates the note. */
  readonly key: string;
  readonly note: string;
  /** Actor of the deletion, e.g. `receipt 17`. */
  readonly by: string;
  readonly requestId: string | undefined;
}

export function describeRemoval(
  row: ConversationRow,
  { event, receiptId, run }: PreparedEvent,
  what = 'cancelled',
): Removal {
  const note = `Booking ${what}: ${titleOf(event, storedBooking(row))}, ${describeBounds(boundsOf(row))}.${describeReason(event)}`;
  return {
    key: `booking-cancelled:${receiptId}:${row.id}`,
    note,
    by: `receipt ${receiptId}`,
    requestId: run.requestId,
  };
}

const describeReason = ({ cancellationReason }: PreparedEvent['event']): string =>
  cancellationReason === null ? '' : ` Reason: ${cancellationReason}`;

/**
 * Deletes the conversation. The note is added to every participant, because notes of the conversation are deleted with
 * it.
 */
export async function removeBooked(
  { jobs, eventOutbox, clock }: Dependencies,
  tx: Tx,
  row: ConversationRow,
  removal: Removal,
): Promise<void> {
  await noteCancellation({ jobs }, tx, idsFromSql(row.participants), removal);
  const at = formatInstant(clock.now());
  await deleteConversation({ jobs, eventOutbox }, tx, { id: row.id, at, reason: 'booking_cancelled', by: removal.by });
}

export async function noteCancellation(
  { jobs }: Pick<Dependencies, 'jobs'>,
  tx: Tx,
  personIds: readonly number[],
  { key, note, requestId }: Removal,
): Promise<void> {
  if (personIds.length === 0) return;
  const added = { key, person_ids: [...personIds], body: note, note_type: 'booking', author_person_id: null };
  await jobs.enqueue(tx, directory.jobs.noteAdd, added, { requestId });
}

export const cancelUnansweredEveryMs = 5_000;

/** How long a conversation waits for a new time (D81). */
const rescheduleTimeoutMicros = 30n * 86_400_000_000n;

/** Maximum number of bookings per transaction. */
const batch = 50;

/**
 * Cancels bookings whose guests did not reschedule in time (D81). Runs in every replica, and skips rows that another
 * replica has locked.
 */
export async function cancelUnanswered(dependencies: Dependencies): Promise<void> {
  const { jobs, clock } = dependencies;
  for (let full = true; full;) {
    full = await jobs.transaction(async (tx) => {
      const bookings = await lockUnanswered(tx, {
        requestedBefore: formatInstant(clock.now() - rescheduleTimeoutMicros),
        limit: batch,
      });
      for (const booking of bookings) await cancel(dependencies, tx, booking);
      return bookings.length === batch;
    });
  }
}

async function cancel(dependencies: Dependencies, tx: Tx, booking: BookingRow): Promise<void> {
  const row =
    booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
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
