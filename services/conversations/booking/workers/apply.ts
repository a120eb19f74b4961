/**
 * Applies an event to a locked booking without seats: creates, changes or cancels the conversation
 * (rules/bookings#booking-webhook; D19, D19a, D80).
 */
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { emitAccessUpdated, emitBookingApplied } from '../../feed/index.ts';
import type { Settlement } from '../../receipts/index.ts';
import { idsFromSql, parseSqlInstant } from '../../representation.ts';
import { type ConversationRow, lockConversation } from '../../statements.ts';
import { mergeIds } from '../rules/booking-event.ts';
import {
  bookingConfig,
  boundsOf,
  describeBounds,
  nextBounds,
  formatOptionalInstant,
  storedBooking,
  titleOf,
} from '../rules/booking-text.ts';
import { type BookingRow, replaceParticipants, updateBooked, updateBooking } from '../statements/booking.ts';
import { cancelBooking } from './cancel.ts';
import { addBookingNote, createBooked, extendChain, listChain, recordAttendees } from './create.ts';
import type { PreparedEvent } from './prepare.ts';

/** Applies one event. `booking` is undefined when no booking matches the event. */
export async function applyBooking(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow | undefined,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const cancels = prepared.event.trigger === 'BOOKING_CANCELLED';
  if (booking === undefined) {
    if (cancels) return { outcome: 'waiting', message: 'The booking is unknown so far.' };
    return createBooked(dependencies, tx, undefined, prepared, prepared.personIds);
  }
  await extendChain(tx, booking.id, prepared);
  if (prepared.at < parseSqlInstant(booking.last_event_at)) return applyLate(dependencies, tx, booking, prepared);
  if (cancels) return cancelBooking(dependencies, tx, booking, prepared);
  const row =
    booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  return row === undefined
    ? createBooked(dependencies, tx, booking, prepared, prepared.personIds)
    : changeBooked(dependencies, tx, booking, row, prepared);
}

/**
 * Applies an event that is older than the booking's last event. It only adds the person of the path and the attendees,
 * and does not change times, title or state (D80).
 */
async function applyLate(
  { jobs, eventOutbox }: Dependencies,
  tx: Tx,
  booking: BookingRow,
  { personIds, personId, guests, event, at, receiptId }: PreparedEvent,
): Promise<Settlement> {
  const message = 'A newer event of this booking was already applied.';
  const row =
    booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  if (row === undefined) return { outcome: 'stale', message };
  const before = idsFromSql(row.participants);
  const participants = mergeIds(before, personIds);
  if (event.trigger !== 'BOOKING_CANCELLED') await recordAttendees(tx, booking.id, guests, { state: 'in', at });
  if (participants.length === before.length) return { outcome: 'stale', message, conversationId: row.id };
  await replaceParticipants(tx, { id: row.id, participantIds: participants });
  await emitAccessUpdated(eventOutbox, tx, [row.id]);
  await jobs.emit(tx, conversations.events.changed, { id: row.id });
  const guestsAdded = participants.slice(before.length).filter((id) => id !== personId).length;
  if (guestsAdded === 0) return { outcome: 'stale', message, conversationId: row.id };
  await addBookingNote(tx, row.id, receiptId, `Booking ${titleOf(event)}; ${describeAdded(guestsAdded)}`);
  return { outcome: 'applied', message: 'Participants added by an older event.', conversationId: row.id };
}

/**
 * Applies the latest event to the conversation. It changes the bounds and adds participants, but never removes
 * participants (D19a).
 */
async function changeBooked(
  { jobs, eventOutbox }: Dependencies,
  tx: Tx,
  booking: BookingRow,
  row: ConversationRow,
  { event, at, personIds, guests, receiptId }: PreparedEvent,
): Promise<Settlement> {
  const before = idsFromSql(row.participants);
  const participants = mergeIds(before, personIds);
  const stored = boundsOf(row);
  const bounds = nextBounds(stored, event);
  const moved = bounds.start !== stored.start || bounds.finish !== stored.finish;
  // A note about a reschedule is added once, even if the event is delivered again or on the path of another person.
  const isRescheduled =
    moved || (event.trigger === 'BOOKING_RESCHEDULED' && at > parseSqlInstant(booking.last_event_at));
  const joined = participants.length - before.length;
  await updateBooked(tx, {
    id: row.id,
    start: formatOptionalInstant(bounds.start),
    finish: formatOptionalInstant(bounds.finish),
    booking: JSON.stringify(bookingConfig(event, at, await listChain(tx, booking.id), storedBooking(row))),
    participantIds: participants,
  });
  await updateBooking(tx, { id: booking.id, conversationId: row.id, lastEventAt: formatInstant(at), cancelled: false });
  await recordAttendees(tx, booking.id, guests, { state: 'in', at });
  const conversationId = row.id;
  emitBookingApplied(eventOutbox, tx, row.id, 'booked');
  if (!isRescheduled && joined === 0) return { outcome: 'applied', message: 'Nothing to change.', conversationId };
  const what = isRescheduled ? `rescheduled: ${titleOf(event)}, ${describeBounds(bounds)}` : titleOf(event);
  await addBookingNote(tx, row.id, receiptId, `Booking ${what}${joined === 0 ? '' : `; ${describeAdded(joined)}`}`);
  await emitAccessUpdated(eventOutbox, tx, [row.id]);
  await jobs.emit(tx, conversations.events.changed, { id: row.id });
  return {
    outcome: 'applied',
    message: isRescheduled ? 'Conversation rescheduled.' : 'Participants added.',
    conversationId,
  };
}

const describeAdded = (count: number): string => `${count} ${count === 1 ? 'participant' : 'participants'} added`;
