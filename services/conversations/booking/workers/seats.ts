/**
 * Applies an event to a booking with seats. It affects only the attendees that it names (rules/bookings#seats; D78,
 * D102).
 */
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant, type Instant } from '#libs/infrastructure/time';
import { conversations } from '../../contract.ts';
import { restoreDeleted } from '../../deletion/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { emitAccessUpdated, emitBookingApplied } from '../../feed/index.ts';
import type { Settlement } from '../../receipts/index.ts';
import { idsFromSql, parseSqlInstant } from '../../representation.ts';
import { type ConversationRow, lockConversation } from '../../statements.ts';
import { participantKey } from '../rules/attendees.ts';
import { stripUidPrefix } from '../rules/booking-event.ts';
import {
  bookingConfig,
  boundsOf,
  nextBounds,
  formatOptionalInstant,
  storedBooking,
  titleOf,
} from '../rules/booking-text.ts';
import {
  findMovedGuests,
  findPresent,
  hasNoGuests,
  type Seat,
  type Seating,
  seatParticipants,
} from '../rules/seats.ts';
import { listHosts } from '../statements/attendance.ts';
import {
  type BookingRow,
  setFormerConversation,
  lockBookings,
  markSeats,
  moveConversation,
  replaceParticipants,
  updateBooked,
  updateBooking,
} from '../statements/booking.ts';
import { cancelSeries, describeRemoval, noteCancellation, removeBooked, awaitNewTime } from './cancel.ts';
import {
  addBooking,
  addBookingNote,
  createBooked,
  extendChain,
  findSeats,
  listChain,
  type NamedAttendee,
  recordAttendees,
  recordSeats,
  saveSeats,
} from './create.ts';
import type { Match } from './match.ts';
import type { PreparedEvent } from './prepare.ts';

/** A roster ends earlier seats one microsecond before its time, so that the seats of its own attendees remain. */
const oneMicrosecond = 1n;

export async function applySeats(
  dependencies: Dependencies,
  tx: Tx,
  match: Match,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const { event } = prepared;
  const [known] = match.bookings;
  const isCancelled = event.trigger === 'BOOKING_CANCELLED';
  const isRequested = match.requests.some(({ uid }) => uid === event.uid);
  if (isCancelled && known === undefined && !isRequested)
    return { outcome: 'waiting', message: 'The booking is unknown so far.' };
  if (!isCancelled && known === undefined && prepared.journeyError !== undefined)
    return createBooked(dependencies, tx, known, prepared, []);
  const booking = known ?? (await addBooking(tx, prepared, { isStub: true, uid: event.uid }));
  await extendChain(tx, booking.id, prepared);
  if (isCancelled) {
    const settlement = await cancelSeats(dependencies, tx, booking, prepared);
    await followRequests(dependencies, tx, match, prepared);
    return settlement;
  }
  const since = event.isRoster ? prepared.at - oneMicrosecond : undefined;
  await adoptParticipants(tx, booking);
  await markSeats(tx, { id: booking.id, since: formatOptionalInstant(since) });
  const isRecorded = await recordAttendees(tx, booking.id, prepared.guests, { state: 'in', at: prepared.at });
  const { uid, rescheduleUid } = event;
  if (uid !== null && rescheduleUid !== null) {
    const seats = prepared.guests.map(
      ({ key, personId }) => ({ attendee: key, personId, state: 'moved', at: prepared.at }) as const,
    );
    await moveOutOfBooking(dependencies, tx, { formerUid: rescheduleUid, seats, nextUid: uid }, prepared);
  }
  await followRequests(dependencies, tx, match, prepared, uid ?? undefined);
  const current = uid === null ? booking : ((await findByUid(tx, uid)) ?? booking);
  return applyAttendance(dependencies, tx, current, prepared, { isRecorded, since });
}

/**
 * Moves attendees out of earlier bookings once their reschedule requests are confirmed, along the chain of requests.
 * @param nextUid booking to which the attendees move
 */
export async function followRequests(
  dependencies: Dependencies,
  tx: Tx,
  { requests, uids }: Match,
  prepared: PreparedEvent,
  nextUid?: string,
): Promise<void> {
  const open = uids.map(stripUidPrefix);
  for (let uid = open.shift(); uid !== undefined; uid = open.shift()) {
    for (const request of requests.filter((item) => item.uid === uid)) {
      const booking = await findByUid(tx, uid);
      if (booking === undefined) continue;
      const { seats, since } = await findSeating(tx, booking);
      const remaining = findMovedGuests(request, seats, since);
      const { formerUid } = request;
      if (
        remaining.length > 0 &&
        (await moveOutOfBooking(dependencies, tx, { formerUid, seats: remaining, nextUid }, prepared))
      )
        open.push(formerUid);
    }
  }
}

/** Finds a booking by uid and locks it; the caller must have locked the uid. */
async function findByUid(tx: Tx, uid: string): Promise<BookingRow | undefined> {
  return (await lockBookings(tx, { identifiers: [`uid:${uid}`] }))[0];
}

/** Applies the seats and the event to the conversation. Times and title are those of the latest event. */
async function applyAttendance(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow,
  prepared: PreparedEvent,
  { isRecorded, since }: { readonly isRecorded: boolean; readonly since: Instant | undefined },
): Promise<Settlement> {
  const { at } = prepared;
  const seating = await findSeating(tx, booking, since);
  const isLatest = isRecorded && (seating.since === undefined || at > seating.since);
  const isNewest = at >= parseSqlInstant(booking.last_event_at);
  const stale: Settlement = { outcome: 'stale', message: 'Newer events of this booking were already applied.' };
  if (hasNoGuests(seating)) {
    await syncParticipants(dependencies, tx, booking, seating, prepared);
    return isLatest ? { outcome: 'applied', message: 'All attendees have left the booking.' } : stale;
  }
  const row = await findOrRestore(dependencies, tx, booking, prepared);
  if (row === undefined) {
    // Without a former conversation, an operator deleted the conversation, and only a newer event creates another one.
    if (!isNewest && booking.former_conversation_id === null) return stale;
    return createBooked(dependencies, tx, booking, prepared, seatParticipants(hostsFirst(seating, prepared), seating));
  }
  const changed = await syncParticipants(dependencies, tx, { ...booking, conversation_id: row.id }, seating, prepared);
  const moved = isNewest && (await updateTimes(dependencies, tx, booking, row.id, prepared));
  if (changed || moved)
    return {
      outcome: 'applied',
      message: moved ? 'Conversation rescheduled.' : 'Participants changed.',
      conversationId: row.id,
    };
  if (!isNewest && !isLatest) return { ...stale, conversationId: row.id };
  return { outcome: 'applied', message: 'Nothing to change.', conversationId: row.id };
}

async function cancelSeats(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const { event, at, guests } = prepared;
  const row =
    booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  if (event.isSeries) await cancelSeries(dependencies, tx, booking.id, prepared, row);
  await adoptParticipants(tx, booking);
  if (event.requestsReschedule && isOfAll(await findSeating(tx, booking), guests)) {
    if (at < parseSqlInstant(booking.last_event_at))
      return { outcome: 'stale', message: 'A newer event of this booking was already applied.' };
    if (row === undefined) return { outcome: 'waiting', message: 'The booking has no conversation yet.' };
    return awaitNewTime(dependencies, tx, booking, row, prepared);
  }
  const since = guests.length === 0 ? at : undefined;
  await markSeats(tx, { id: booking.id, since: formatOptionalInstant(since) });
  await recordAttendees(tx, booking.id, guests, { state: 'gone', at });
  const seating = await findSeating(tx, booking, since);
  const changed = await syncParticipants(dependencies, tx, booking, seating, prepared);
  const outcome = 'applied';
  if (row === undefined) return { outcome, message: 'Recorded; the booking has no conversation.' };
  if (hasNoGuests(seating)) {
    emitBookingApplied(dependencies.eventOutbox, tx, row.id, 'cancelled');
    return { outcome, message: 'Conversation deleted.', conversationId: row.id };
  }
  return { outcome, message: changed ? 'Participants removed.' : 'Nothing to change.', conversationId: row.id };
}

/** Returns whether the event names all present guests, or no guests at all (D78). */
const isOfAll = (seating: Seating, guests: readonly NamedAttendee[]): boolean =>
  guests.length === 0 ||
  findPresent(seating).every(({ attendee, personId }) =>
    guests.some(
      (bookingGuest) => bookingGuest.key === attendee || (personId !== null && bookingGuest.personId === personId),
    ),
  );

interface MoveOut {
  readonly formerUid: string;
  readonly seats: readonly Seat[];
  /**
   * Booking to which the attendees move. If all guests move to a booking without a conversation, the conversation moves
   * too.
   */
  readonly nextUid: string | undefined;
}

/** Moves attendees to another booking. @returns whether the seats changed */
async function moveOutOfBooking(
  dependencies: Dependencies,
  tx: Tx,
  { formerUid, seats, nextUid }: MoveOut,
  prepared: PreparedEvent,
): Promise<boolean> {
  const former = (await findByUid(tx, formerUid)) ?? (await addBooking(tx, prepared, { isStub: true, uid: formerUid }));
  const next = nextUid === undefined ? undefined : await findByUid(tx, nextUid);
  if (former.id === next?.id) return false;
  await adoptParticipants(tx, former);
  await markSeats(tx, { id: former.id, since: null });
  const wasEmpty = findPresent(await findSeating(tx, former)).length === 0;
  const isRecorded = await recordSeats(tx, former.id, seats);
  const seating = await findSeating(tx, former);
  const isWhole = !prepared.event.isSingleSeat && !wasEmpty && findPresent(seating).length === 0;
  if (
    isWhole &&
    former.conversation_id !== null &&
    next?.conversation_id === null &&
    next.former_conversation_id === null
  )
    await moveConversation(tx, { from: former.id, to: next.id });
  else await syncParticipants(dependencies, tx, former, seating, prepared, 'moved');
  return isRecorded;
}

/**
 * Updates the conversation to match the seats. Without guests the conversation is deleted, otherwise its participants
 * are replaced. Removed guests receive a note.
 * @returns whether something changed
 */
async function syncParticipants(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow,
  seating: Seating,
  prepared: PreparedEvent,
  what: 'cancelled' | 'moved' = 'cancelled',
): Promise<boolean> {
  const row =
    booking.conversation_id === null ? undefined : await lockConversation(tx, { id: booking.conversation_id });
  if (row === undefined) return false;
  const removal = describeRemoval(row, prepared, what);
  if (hasNoGuests(seating)) {
    await removeBooked(dependencies, tx, row, removal);
    await setFormerConversation(tx, { id: booking.id, formerId: row.id });
    return true;
  }
  const before = idsFromSql(row.participants);
  const includesHost = what === 'cancelled' && prepared.event.trigger !== 'BOOKING_CANCELLED';
  const participantIds = seatParticipants(includesHost ? [...before, prepared.personId] : before, seating);
  const [removed, added] = [
    before.filter((id) => !participantIds.includes(id)),
    participantIds.filter((id) => !before.includes(id)),
  ];
  if (removed.length + added.length === 0) return false;
  await replaceParticipants(tx, { id: row.id, participantIds });
  if (what === 'cancelled') await noteCancellation(dependencies, tx, removed, removal);
  const counts = [
    describeCount(added.length, 'added'),
    describeCount(removed.length, what === 'moved' ? 'moved' : 'removed'),
  ].filter(Boolean);
  await addBookingNote(
    tx,
    row.id,
    prepared.receiptId,
    `Booking ${titleOf(prepared.event, storedBooking(row))}; ${counts.join(', ')}`,
  );
  await emitChanged(dependencies, tx, row.id);
  return true;
}

const describeCount = (count: number, what: string): string =>
  count === 0 ? '' : `${count} ${count === 1 ? 'participant' : 'participants'} ${what}`;

/** Updates times and title from the event. @returns whether the times changed */
async function updateTimes(
  dependencies: Dependencies,
  tx: Tx,
  booking: BookingRow,
  conversationId: number,
  { event, at, receiptId }: PreparedEvent,
): Promise<boolean> {
  const row = await lockConversation(tx, { id: conversationId });
  if (row === undefined) return false;
  const stored = boundsOf(row);
  const bounds = nextBounds(stored, event);
  const before = storedBooking(row);
  const booked = bookingConfig(
    event,
    at,
    [...new Set([...listText(before['uids']), ...(await listChain(tx, booking.id))])],
    before,
  );
  const values = {
    start: formatOptionalInstant(bounds.start),
    finish: formatOptionalInstant(bounds.finish),
    booking: JSON.stringify(booked),
  };
  await updateBooked(tx, { id: row.id, ...values, participantIds: idsFromSql(row.participants) });
  await updateBooking(tx, { id: booking.id, conversationId: row.id, lastEventAt: formatInstant(at), cancelled: false });
  emitBookingApplied(dependencies.eventOutbox, tx, row.id, 'booked');
  if (bounds.start === stored.start && bounds.finish === stored.finish) return false;
  await addBookingNote(tx, row.id, receiptId, `Booking rescheduled: ${titleOf(event)}`);
  await emitChanged(dependencies, tx, row.id);
  return true;
}

const listText = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

async function emitChanged({ jobs, eventOutbox }: Dependencies, tx: Tx, id: number): Promise<void> {
  await emitAccessUpdated(eventOutbox, tx, [id]);
  await jobs.emit(tx, conversations.events.changed, { id });
}

/**
 * Returns the locked conversation of the booking. Restores a conversation that was deleted when it had no guests any
 * more.
 */
async function findOrRestore(
  dependencies: Dependencies,
  tx: Tx,
  { id, conversation_id: conversationId, former_conversation_id: formerId }: BookingRow,
  { receiptId }: PreparedEvent,
): Promise<ConversationRow | undefined> {
  const current = conversationId === null ? undefined : await lockConversation(tx, { id: conversationId });
  if (current !== undefined || formerId === null) return current;
  await restoreDeleted(dependencies, tx, { id: formerId, by: `receipt ${receiptId}` });
  await setFormerConversation(tx, { id, formerId: null });
  return lockConversation(tx, { id: formerId });
}

/**
 * Adds a seat for each participant of a conversation that was booked before attendees were recorded. Any event
 * overrides these seats.
 */
async function adoptParticipants(tx: Tx, booking: BookingRow): Promise<void> {
  if (booking.has_seats || booking.conversation_id === null || (await findSeats(tx, booking.id)).length > 0) return;
  const row = await lockConversation(tx, { id: booking.conversation_id });
  if (row === undefined) return;
  const hosts = await findHosts(tx, booking.id);
  const guests = idsFromSql(row.participants).filter((id) => !hosts.includes(id));
  await saveSeats(
    tx,
    booking.id,
    guests.map((personId) => ({ attendee: participantKey(personId), personId, state: 'in', at: 0n })),
  );
}

async function findSeating(tx: Tx, booking: BookingRow, since?: Instant): Promise<Seating> {
  const stored = booking.seats_since === null ? undefined : parseSqlInstant(booking.seats_since);
  const latest = since === undefined || (stored !== undefined && stored > since) ? stored : since;
  return { seats: await findSeats(tx, booking.id), since: latest, hosts: await findHosts(tx, booking.id) };
}

async function findHosts(tx: Tx, bookingId: number): Promise<number[]> {
  return (await listHosts(tx, { bookingId })).map((row) => row.person_id);
}

const hostsFirst = ({ hosts }: Seating, { personId }: PreparedEvent): number[] => [...new Set([personId, ...hosts])];
