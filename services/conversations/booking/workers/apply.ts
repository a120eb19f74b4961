/** Applies a booking event whose booking is locked: create, change or cancel (rules/bookings#booking-webhook; D19, D19a). */
import type { JsonObject } from '#libs/json';
import type { Tx } from '#libs/orm';
import { formatInstant } from '#libs/time';
import { directory } from '#services/directory';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { tellAccessUpdated, tellApplied, tellCreated } from '../../feed/index.ts';
import { addNote } from '../../notes/index.ts';
import { enterStep } from '../../pipeline/index.ts';
import type { Settlement } from '../../receipts/index.ts';
import { idsFromSql, parseSqlInstant } from '../../sql-values.ts';
import type { ConversationRow } from '../../statements.ts';
import { insertConversation, lockConversation } from '../../statements.ts';
import { firstStep } from '../../step.ts';
import { joinIds } from '../rules/booking-event.ts';
import { bookingConfig, boundsOf, describeBounds, showInstant, storedBooking, titleOf } from '../rules/booking-text.ts';
import {
  addIdentifiers,
  type BookingRow,
  findWaitingReceipts,
  insertBooking,
  listUids,
  replaceParticipants,
  updateBooked,
  updateBooking,
} from '../statements.ts';
import { cancelBooking } from './cancel.ts';
import type { PreparedEvent } from './prepare.ts';

/** Applies one event; `booking` is the locked match, undefined when there is none. */
export async function applyBooking(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow | undefined,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const cancels = prepared.event.trigger === 'BOOKING_CANCELLED';
  if (booking === undefined) {
    if (cancels) return { outcome: 'waiting', message: 'The booking is not known yet.' };
    return createBooked(dependencies, tx, undefined, prepared);
  }
  await extendChain(dependencies, tx, booking.id, prepared);
  if (prepared.at < parseSqlInstant(booking.last_event_at)) return skipStale(dependencies, tx, booking, prepared);
  if (cancels) return cancelBooking(dependencies, tx, booking, prepared);
  const row = booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  return row === undefined ? createBooked(dependencies, tx, booking, prepared) : changeBooked(dependencies, tx, booking, row, prepared);
}

/** Adds what the event names to the chain, and wakes the cancellations that waited for it. */
async function extendChain({ jobs }: Dependencies, tx: Tx, bookingId: number, { event, receiptId, run }: PreparedEvent): Promise<void> {
  await addIdentifiers(tx, { bookingId, identifiers: event.identifiers });
  for (const { id } of await findWaitingReceipts(tx, { identifiers: event.identifiers })) {
    if (id === receiptId) continue;
    await jobs.enqueue(tx, conversations.jobs.bookingEvent, { receipt_id: id }, { requestId: run.requestId });
  }
}

/** An older event changes nothing, but the person on whose hook it came takes part in the conversation. */
async function skipStale({ jobs, news }: Dependencies, tx: Tx, booking: BookingRow, { personId }: PreparedEvent): Promise<Settlement> {
  const message = 'A newer event of this booking is applied already.';
  const row = booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  if (row === undefined) return { outcome: 'stale', message };
  const participants = idsFromSql(row.participants);
  if (!participants.includes(personId)) {
    await replaceParticipants(tx, { id: row.id, participantIds: [...participants, personId] });
    await tellAccessUpdated(news, tx, [row.id]);
    await jobs.emit(tx, conversations.events.changed, { id: row.id });
  }
  return { outcome: 'stale', message, conversationId: row.id };
}

async function createBooked(
  dependencies: Dependencies,
  tx: Tx,
  known: BookingRow | undefined,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const { event, at, journey, journeyError = 'No journey.', personIds, receiptId, run } = prepared;
  if (journey === undefined) return noteJourneyError(dependencies, tx, prepared, journeyError);
  const booking = known ?? (await insertBooking(tx, { attendeeKey: prepared.attendeeKey, lastEventAt: formatInstant(at) }));
  if (known === undefined) await extendChain(dependencies, tx, booking.id, prepared);
  const step = firstStep(journey.steps);
  const row = await insertConversation(tx, {
    journeyId: journey.id,
    stepId: step?.id,
    eventId: journey.ownerEventIds.length === 1 ? journey.ownerEventIds[0] : null,
    start: showInstant(event.start),
    finish: showInstant(event.finish),
    participantIds: joinIds(personIds, []),
    config: JSON.stringify({ booking: bookingConfig(event, at, await chainOf(tx, booking.id), {}) }),
  });
  await updateBooking(tx, { id: booking.id, conversationId: row.id, lastEventAt: formatInstant(at), cancelled: false });
  await addBookingNote(tx, row.id, receiptId, `Booking created: ${titleOf(event)}, ${describeBounds(event)}`);
  tellCreated(dependencies.news, tx, row, journey);
  tellApplied(dependencies.news, tx, row.id, event.trigger);
  await enterStep(dependencies, tx, row.id, { journey, step }, 'booking', run);
  return { outcome: 'applied', message: 'Conversation created.', conversationId: row.id };
}

async function noteJourneyError({ jobs }: Dependencies, tx: Tx, prepared: PreparedEvent, message: string): Promise<Settlement> {
  const note = {
    key: `booking-error:${prepared.receiptId}`,
    person_ids: [prepared.personId],
    body: `Booking ${titleOf(prepared.event)} could not become a conversation. ${message}`,
    note_type: 'booking_error',
    author_person_id: null,
  };
  await jobs.enqueue(tx, directory.jobs.noteAdd, note, { requestId: prepared.run.requestId });
  return { outcome: 'journey_error', message };
}

/** Later events move the bounds, add participants and never remove one (D19a). */
async function changeBooked(
  { jobs, news }: Dependencies,
  tx: Tx,
  booking: BookingRow,
  row: ConversationRow,
  { event, at, personIds, receiptId }: PreparedEvent,
): Promise<Settlement> {
  const before = idsFromSql(row.participants);
  const participants = joinIds(before, personIds);
  const stored = boundsOf(row);
  const bounds = { start: event.start ?? stored.start, finish: event.finish ?? stored.finish };
  const moved = bounds.start !== stored.start || bounds.finish !== stored.finish;
  // A reschedule is noted once, though it comes again or on another person's hook.
  const isRescheduled = moved || (event.trigger === 'BOOKING_RESCHEDULED' && at > parseSqlInstant(booking.last_event_at));
  const joined = participants.length - before.length;
  const booked: JsonObject = bookingConfig(event, at, await chainOf(tx, booking.id), storedBooking(row));
  await updateBooked(tx, {
    id: row.id,
    start: showInstant(bounds.start),
    finish: showInstant(bounds.finish),
    booking: JSON.stringify(booked),
    participantIds: participants,
  });
  await updateBooking(tx, { id: booking.id, conversationId: row.id, lastEventAt: formatInstant(at), cancelled: false });
  const conversationId = row.id;
  tellApplied(news, tx, row.id, event.trigger);
  if (!isRescheduled && joined === 0) return { outcome: 'applied', message: 'Nothing to change.', conversationId };
  const what = isRescheduled ? `rescheduled: ${titleOf(event)}, ${describeBounds(bounds)}` : titleOf(event);
  const who = joined === 0 ? '' : `; ${joined} ${joined === 1 ? 'participant' : 'participants'} added`;
  await addBookingNote(tx, row.id, receiptId, `Booking ${what}${who}`);
  await tellAccessUpdated(news, tx, [row.id]);
  await jobs.emit(tx, conversations.events.changed, { id: row.id });
  return { outcome: 'applied', message: isRescheduled ? 'Conversation rescheduled.' : 'Participants added.', conversationId };
}

async function chainOf(tx: Tx, bookingId: number): Promise<string[]> {
  return (await listUids(tx, { bookingId })).map((item) => item.uid);
}

/** One note per receipt, however often it is worked. */
async function addBookingNote(tx: Tx, conversationId: number, receiptId: number, body: string): Promise<void> {
  await addNote(tx, { conversationId, key: `booking:${receiptId}`, type: 'booking', body, authorPersonId: null });
}
