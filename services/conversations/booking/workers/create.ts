/** Creates conversations from bookings (rules/bookings#booking-webhook; D19, D19a). */
import { RetryLater } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { directory } from '#services/directory';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { emitBookingApplied, emitCreated } from '../../feed/index.ts';
import { holdReferences } from '../../references.ts';
import { addNote, insertConversation } from '../../statements.ts';
import { enterStep } from '../../pipeline/index.ts';
import type { Settlement } from '../../receipts/index.ts';
import { parseSqlInstant } from '../../representation.ts';
import { firstStep } from '../../directory-cache/index.ts';
import type { BookingEvent } from '../rules/booking-event.ts';
import { bookingConfig, describeBounds, nextBounds, formatOptionalInstant, titleOf } from '../rules/booking-text.ts';
import { changeSeats, type Seat } from '../rules/seats.ts';
import { addReferences, listAttendees, saveAttendees } from '../statements/attendance.ts';
import {
  addIdentifiers,
  type BookingRow,
  findWaitingReceipts,
  insertBooking,
  listUids,
  updateBooking,
} from '../statements/booking.ts';
import type { BookingGuest, PreparedEvent } from './prepare.ts';

/** Event time of a stub booking, which is older than every event. */
const epoch = '1970-01-01T00:00:00Z';

/** Adds a new booking. With `isStub`, only its uid is known, from an event of another booking. */
export async function addBooking(
  tx: Tx,
  prepared: PreparedEvent,
  { isStub = false, uid = null }: { readonly isStub?: boolean; readonly uid?: string | null } = {},
): Promise<BookingRow> {
  const { attendeeKey, at } = prepared;
  const lastEventAt = isStub ? epoch : formatInstant(at);
  const booking = await insertBooking(tx, {
    attendeeKey: uid === null ? attendeeKey : `cal.com:uid:${uid}`,
    lastEventAt,
  });
  await extendChain(tx, booking.id, prepared, uid === null ? undefined : [`uid:${uid}`]);
  return booking;
}

/** Adds the identifiers of the event to the reschedule chain of the booking. */
export async function extendChain(
  tx: Tx,
  bookingId: number,
  { event, personId }: PreparedEvent,
  own?: readonly string[],
): Promise<void> {
  const uids = own ?? (event.hasSeats && event.uid !== null ? [`uid:${event.uid}`] : event.uids);
  const numbers = own === undefined ? event.numbers : [];
  await addIdentifiers(tx, { bookingId, identifiers: uids });
  await addReferences(tx, { bookingId, hostId: personId, numbers });
}

/** Enqueues the waiting cancellations with one of the uids, or with a number of the event. */
export async function retryWaitingReceipts(
  { jobs }: Pick<Dependencies, 'jobs'>,
  tx: Tx,
  uids: readonly string[],
  { event, receiptId, run }: PreparedEvent,
): Promise<void> {
  for (const { id } of await findWaitingReceipts(tx, { uids, numbers: event.numbers })) {
    if (id === receiptId) continue;
    await jobs.enqueue(tx, conversations.jobs.bookingEvent, { receipt_id: id }, { requestId: run.requestId });
  }
}

export type NamedAttendee = Pick<BookingGuest, 'key' | 'personId'>;

/** Records the attendees of an event. @returns whether the event is the latest one for at least one attendee */
export async function recordAttendees(
  tx: Tx,
  bookingId: number,
  guests: readonly NamedAttendee[],
  { state, at }: Pick<Seat, 'state' | 'at'>,
): Promise<boolean> {
  return recordSeats(
    tx,
    bookingId,
    guests.map(({ key, personId }) => ({ attendee: key, personId, state, at })),
  );
}

/** Records seats from several events; see `recordAttendees`. */
export async function recordSeats(tx: Tx, bookingId: number, incoming: readonly Seat[]): Promise<boolean> {
  const known = await findSeats(tx, bookingId);
  const changed = changeSeats(known, incoming);
  await saveSeats(tx, bookingId, changed);
  return changed.some((seat) => incoming.some((item) => item.attendee === seat.attendee && item.at === seat.at));
}

export async function saveSeats(tx: Tx, bookingId: number, seats: readonly Seat[]): Promise<void> {
  if (seats.length === 0) return;
  const rows = [...new Map(seats.map((seat) => [seat.attendee, seat])).values()].map(
    ({ attendee, personId, state, at }) => ({
      attendee,
      person_id: personId,
      state,
      at: formatInstant(at),
    }),
  );
  await saveAttendees(tx, { bookingId, attendees: JSON.stringify(rows) });
}

export async function findSeats(tx: Tx, bookingId: number): Promise<Seat[]> {
  const rows = await listAttendees(tx, { bookingId });
  return rows.map(({ attendee, person_id: personId, state, at }) => ({
    attendee,
    personId,
    state,
    at: parseSqlInstant(at),
  }));
}

/**
 * Creates the conversation of a booking. @throws RetryLater when the need for a conversation became known only after
 * the locks
 */
export async function createBooked(
  dependencies: Dependencies,
  tx: Tx,
  known: BookingRow | undefined,
  prepared: PreparedEvent,
  participantIds: readonly number[],
): Promise<Settlement> {
  const { event, at, journey, journeyError, personId, receiptId, run } = prepared;
  if (journey === undefined) {
    if (journeyError === undefined) throw new RetryLater('The booking needs a conversation', { delayMs: 0 });
    await addErrorNote(dependencies, tx, {
      personId,
      event,
      receiptId,
      requestId: run.requestId,
      message: journeyError,
    });
    return { outcome: 'journey_error', message: journeyError };
  }
  const booking = known ?? (await addBooking(tx, prepared));
  const step = firstStep(journey.steps);
  const bounds = nextBounds({ start: undefined, finish: undefined }, event);
  const eventId = journey.ownerEventIds.length === 1 ? journey.ownerEventIds[0] : null;
  await holdReferences(dependencies, tx, { journeyId: journey.id, stepId: step?.id, holonIds: [eventId] });
  const row = await insertConversation(tx, {
    journeyId: journey.id,
    stepId: step?.id,
    eventId,
    start: formatOptionalInstant(bounds.start),
    finish: formatOptionalInstant(bounds.finish),
    participantIds,
    config: JSON.stringify({ booking: bookingConfig(event, at, await listChain(tx, booking.id), {}) }),
  });
  await updateBooking(tx, { id: booking.id, conversationId: row.id, lastEventAt: formatInstant(at), cancelled: false });
  await recordAttendees(tx, booking.id, prepared.guests, { state: 'in', at });
  await addBookingNote(tx, row.id, receiptId, `Booking created: ${titleOf(event)}, ${describeBounds(bounds)}`);
  emitCreated(dependencies.eventOutbox, tx, row, journey);
  emitBookingApplied(dependencies.eventOutbox, tx, row.id, 'booked');
  await enterStep(dependencies, tx, row.id, { journey, step }, 'booking', run);
  return { outcome: 'applied', message: 'Conversation created.', conversationId: row.id };
}

interface ErrorNote {
  readonly personId: number;
  readonly event: BookingEvent;
  readonly receiptId: number;
  readonly requestId: string;
  readonly message: string;
}

/** Adds a note for the host which explains why the event had no effect (D19a, D82). */
export async function addErrorNote(
  { jobs }: Dependencies,
  tx: Tx,
  { personId, event, receiptId, requestId, message }: ErrorNote,
): Promise<void> {
  const note = {
    key: `booking-error:${receiptId}`,
    person_ids: [personId],
    body: `Booking ${titleOf(event)} could not become a conversation. ${message}`,
    note_type: 'booking_error',
    author_person_id: null,
  };
  await jobs.enqueue(tx, directory.jobs.noteAdd, note, { requestId });
}

export async function listChain(tx: Tx, bookingId: number): Promise<string[]> {
  return (await listUids(tx, { bookingId })).map((item) => item.uid);
}

/** Adds a note once per receipt, even if the receipt is processed again. */
export async function addBookingNote(tx: Tx, conversationId: number, receiptId: number, body: string): Promise<void> {
  await addNote(tx, { conversationId, key: `booking:${receiptId}`, type: 'booking', body, authorPersonId: null });
}
