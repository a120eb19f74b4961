/** Resolves people and journey of a booking event before any lock is acquired. */
import { isPossibleId } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { JobRun } from '#libs/infrastructure/jobs';
import type { Instant } from '#libs/infrastructure/time';
import { directory } from '#services/directory';
import type { Dependencies } from '../../dependencies.ts';
import type { CachedJourney } from '../../directory-cache/index.ts';
import type { Settlement, StoredReceipt } from '../../receipts/index.ts';
import { parseSqlInstant } from '../../representation.ts';
import type { Attendee } from '../rules/attendees.ts';
import { type BookingEvent, mergeIds, readJourneyHint } from '../rules/booking-event.ts';
import { listAttendees } from '../statements/attendance.ts';
import { findBookings } from '../statements/booking.ts';
import { findMatch, type Match } from './match.ts';

/** A booking event with its directory data. */
export interface PreparedEvent {
  readonly receiptId: number;
  readonly event: BookingEvent;
  /** Provider's time of the event, else the time of receipt. */
  readonly at: Instant;
  readonly personId: number;
  readonly attendeeKey: string;
  /** Attendees of the event; `personId` is null for attendees that the directory does not know. */
  readonly guests: readonly BookingGuest[];
  /** Person of the webhook path, followed by the attendees. */
  readonly personIds: readonly number[];
  /** Undefined when no journey is needed, or none was found. */
  readonly journey: CachedJourney | undefined;
  /** Reason why no conversation can be created; undefined when the journey was found or is not needed. */
  readonly journeyError: string | undefined;
  readonly run: JobRun<unknown>;
}

export interface BookingGuest extends Attendee {
  readonly personId: number | null;
}

/** Outcome of an event that has no effect. `hostNote` adds a note for the host. */
export interface Refusal extends Settlement {
  readonly hostNote?: { readonly personId: number; readonly event: BookingEvent } | undefined;
}

/** A journey, or the reason why it was not found. */
type FoundJourney = Pick<PreparedEvent, 'journey' | 'journeyError'>;

const notNeeded: FoundJourney = { journey: undefined, journeyError: undefined };

/** Resolves the people and the journey of an event at other services, before any lock is acquired. */
export async function prepare(
  dependencies: Dependencies,
  receipt: StoredReceipt,
  given: BookingEvent,
  run: JobRun<unknown>,
): Promise<PreparedEvent | Refusal> {
  const personId = await findHost(dependencies, receipt.person_id, run);
  if (personId === undefined) return { outcome: 'person_not_found', message: 'The person of the path does not exist.' };
  const rejection = findRejection(given, personId);
  if (rejection !== undefined) return rejection;
  const event = await decideSeats(dependencies, given);
  const match = await findMatch(dependencies.db, event, personId);
  const [booking] = match.bookings;
  const attendeeKey = booking?.attendee_key ?? `cal.com:${event.uids.at(-1) ?? event.numbers[0] ?? ''}`;
  const isBooked = event.trigger === 'BOOKING_CREATED' || event.trigger === 'BOOKING_RESCHEDULED';
  const creates = isBooked && match.bookings.every((item) => item.conversation_id === null);
  // After a merge, the remaining booking can be a cancelled one, which needs a conversation.
  const mayCreate = creates || (isBooked && match.bookings.length > 1);
  const found = mayCreate ? await findConversationJourney(dependencies, event.videoCallUrl) : notNeeded;
  const at = event.createdAt ?? parseSqlInstant(receipt.received_at);
  const base = { receiptId: receipt.id, event, at, personId, attendeeKey, ...found, run };
  const lacksJourney =
    creates && found.journeyError !== undefined && (booking?.former_conversation_id ?? null) === null;
  if (event.trigger === 'BOOKING_REQUESTED' || lacksJourney)
    return {
      ...base,
      guests: event.attendees.map((attendee) => ({ ...attendee, personId: null })),
      personIds: [personId],
    };
  try {
    const guests = await resolveGuests(dependencies, base, match, isBooked);
    return {
      ...base,
      guests,
      personIds: mergeIds([personId], isBooked ? guests.flatMap((bookingGuest) => bookingGuest.personId ?? []) : []),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'too_many_new_people') throw error;
    return { outcome: 'refused_too_many_attendees', message: error.message };
  }
}

/** Returns the event with `hasSeats` from the stored booking, because webhook templates can omit the seats (D78). */
async function decideSeats({ db }: Dependencies, event: BookingEvent): Promise<BookingEvent> {
  if (!event.seatsUnspecified || event.uids.length === 0) return event;
  const known = await findBookings(db, { identifiers: event.uids });
  return known.some(({ has_seats: hasSeats }) => hasSeats) ? { ...event, hasSeats: true } : event;
}

/** Returns the reason to reject the event, regardless of its booking. */
function findRejection(event: BookingEvent, personId: number): Refusal | undefined {
  if (event.uids.length === 0 && event.numbers.length === 0)
    return { outcome: 'rejected_unidentified', message: 'The event has no uid, id or iCalUID.' };
  if (event.uids.length === 0 && event.matchers.length === 0)
    return {
      outcome: 'rejected_unidentified',
      message: 'A cancellation without a uid is applied only when it is signed.',
    };
  if (
    event.trigger === 'BOOKING_CANCELLED' ||
    event.trigger === 'BOOKING_REQUESTED' ||
    event.timesProblem === undefined
  )
    return undefined;
  return { outcome: 'refused_times', message: event.timesProblem, hostNote: { personId, event } };
}

/** Resolves attendees to people, but does not create people for attendees that have moved or cancelled. */
async function resolveGuests(
  { db, bus, config }: Dependencies,
  { event, at, attendeeKey, run }: Pick<PreparedEvent, 'event' | 'at' | 'attendeeKey' | 'run'>,
  { bookings: [booking] }: Match,
  isBooked: boolean,
): Promise<BookingGuest[]> {
  if (event.attendees.length === 0) return [];
  const seats = booking === undefined || !event.hasSeats ? [] : await listAttendees(db, { bookingId: booking.id });
  const remaining = new Map(
    seats.filter((seat) => seat.state !== 'in' && parseSqlInstant(seat.at) > at).map((seat) => [seat.attendee, seat]),
  );
  const present = event.attendees.filter(({ key }) => !remaining.has(key));
  const request = {
    attendees: present.map(({ name, email, phone }) => ({ name, email, phone })),
    create: isBooked && config.BOOKING_CREATE_ATTENDEES,
    key: attendeeKey,
  };
  const { person_ids: ids } =
    present.length === 0 ? { person_ids: [] } : await bus.call(directory.rpcs.resolveAttendees, request, run.context);
  const found = new Map(present.map(({ key }, index) => [key, ids[index] ?? null]));
  return event.attendees.map((attendee) => ({
    ...attendee,
    personId: found.get(attendee.key) ?? remaining.get(attendee.key)?.person_id ?? null,
  }));
}

/**
 * Returns the id of the person in the path. The id of a merged person resolves to the surviving person, so that the
 * webhook URL remains valid (I5).
 */
async function findHost(
  { bus, directory: cache }: Dependencies,
  given: string,
  run: JobRun<unknown>,
): Promise<number | undefined> {
  const id = /^[0-9]{1,10}$/.test(given) ? Number(given) : 0;
  if (!isPossibleId(id)) return undefined;
  const isKnown = async (personId: number): Promise<boolean> => (await cache.people.getMany([personId])).has(personId);
  if (await isKnown(id)) return id;
  const { items } = await bus.call(directory.rpcs.findMerged, { ids: [id] }, run.context);
  const into = items[0]?.into_id;
  return into !== undefined && (await isKnown(into)) ? into : undefined;
}

/** Returns the conversation journey in the video call URL, or the reason why none was found (D19, D19a). */
export async function findConversationJourney(
  { directory: cache }: Pick<Dependencies, 'directory'>,
  videoCallUrl: string | null,
): Promise<FoundJourney> {
  const hint = readJourneyHint(videoCallUrl);
  if (hint === undefined)
    return { journey: undefined, journeyError: 'The booking has no video call URL that could name a journey.' };
  const journeys = await cache.findJourneysBySlugs(hint.slugs);
  const journey = journeys.find((item) => item.isConversation);
  if (journey !== undefined) return { journey, journeyError: undefined };
  const named = hint.named
    ? `"${(hint.slugs[0] ?? '').slice(0, 200)}" is not a conversation journey.`
    : 'no part of its path is the slug of one.';
  return { journey: undefined, journeyError: `The video call URL names no conversation journey: ${named}` };
}
