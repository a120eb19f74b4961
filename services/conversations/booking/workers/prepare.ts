/** What a booking event needs of other services, asked for before any lock. */
import { isPossibleId } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { JobRun } from '#libs/jobs';
import type { Instant } from '#libs/time';
import { directory } from '#services/directory';
import type { Dependencies } from '../../dependencies.ts';
import type { CachedJourney } from '../../directory-cache/index.ts';
import type { Settlement, StoredReceipt } from '../../receipts/index.ts';
import { parseSqlInstant } from '../../sql-values.ts';
import { type BookingEvent, chooseBookings, readJourneyHint } from '../rules/booking-event.ts';
import { findBookings } from '../statements.ts';

/** An event with what the directory knows about it. */
export interface PreparedEvent {
  readonly receiptId: number;
  readonly event: BookingEvent;
  /** The provider's time of the event, else the time of receipt. */
  readonly at: Instant;
  readonly personId: number;
  readonly attendeeKey: string;
  /** The path's person, then the attendees. */
  readonly personIds: readonly number[];
  /** Undefined when no journey is needed, or none is found. */
  readonly journey: CachedJourney | undefined;
  /** Why no conversation can be made of it; undefined when no journey is needed, or it is found. */
  readonly journeyError: string | undefined;
  readonly run: JobRun<unknown>;
}

/** A journey, or why there is none. */
type FoundJourney = Pick<PreparedEvent, 'journey' | 'journeyError'>;

const notNeeded: FoundJourney = { journey: undefined, journeyError: undefined };

/** Everything that needs another service, before any lock. */
export async function prepare(
  dependencies: Dependencies,
  receipt: StoredReceipt,
  event: BookingEvent,
  run: JobRun<unknown>,
): Promise<PreparedEvent | Settlement> {
  const { db, bus, config } = dependencies;
  const personId = await findHost(dependencies, receipt.person_id, run);
  if (personId === undefined) return { outcome: 'person_not_found', message: 'The person of the path does not exist.' };
  if (event.identifiers.length === 0) return { outcome: 'rejected_unidentified', message: 'The event has no uid, id or iCalUID.' };
  if (event.matchers.length === 0)
    return { outcome: 'rejected_unidentified', message: 'A cancellation without a uid is applied only when it is signed.' };
  const matched = chooseBookings(await findBookings(db, { identifiers: event.matchers }));
  const attendeeKey = matched[0]?.attendee_key ?? `cal.com:${event.identifiers[0]}`;
  const cancels = event.trigger === 'BOOKING_CANCELLED';
  const creates = !cancels && matched.every((booking) => booking.conversation_id === null);
  // Several bookings become one, and what is left of them may be a cancelled one: then a conversation is needed after all.
  const mayCreate = creates || (!cancels && matched.length > 1);
  const found = mayCreate ? await findConversationJourney(dependencies, event.videoCallUrl) : notNeeded;
  const at = event.createdAt ?? parseSqlInstant(receipt.received_at);
  const base = { receiptId: receipt.id, event, at, personId, attendeeKey, ...found, run };
  if (cancels || (creates && found.journeyError !== undefined) || event.attendees.length === 0) return { ...base, personIds: [personId] };
  const request = { attendees: [...event.attendees], create: config.BOOKING_CREATE_ATTENDEES, key: attendeeKey };
  try {
    const { person_ids } = await bus.call(directory.rpcs.resolveAttendees, request, run.context);
    return { ...base, personIds: [personId, ...person_ids.filter((id) => id !== null)] };
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'too_many_new_people') throw error;
    return { outcome: 'refused_too_many_attendees', message: error.message };
  }
}

/** The person of the path: who went into another by a merge is that other, so that hooks which name them go on (I5). */
async function findHost({ bus, directory: cache }: Dependencies, given: string, run: JobRun<unknown>): Promise<number | undefined> {
  const id = /^[0-9]{1,10}$/.test(given) ? Number(given) : 0;
  if (!isPossibleId(id)) return undefined;
  const isKnown = async (personId: number): Promise<boolean> => (await cache.people.getMany([personId])).has(personId);
  if (await isKnown(id)) return id;
  const { items } = await bus.call(directory.rpcs.findMerged, { ids: [id] }, run.context);
  const into = items[0]?.into_id;
  return into !== undefined && (await isKnown(into)) ? into : undefined;
}

/** The conversation journey that the video call URL names, or why there is none (D19, D19a). */
export async function findConversationJourney(
  { directory: cache }: Pick<Dependencies, 'directory'>,
  videoCallUrl: string | null,
): Promise<FoundJourney> {
  const hint = readJourneyHint(videoCallUrl);
  if (hint === undefined) return { journey: undefined, journeyError: 'The booking has no video call URL that could name a journey.' };
  const journeys = await cache.findJourneysBySlugs(hint.slugs);
  const journey = journeys.find((item) => item.isConversation);
  if (journey !== undefined) return { journey, journeyError: undefined };
  const named = hint.named ? `"${(hint.slugs[0] ?? '').slice(0, 200)}" is no conversation journey.` : 'no part of its path is one.';
  return { journey: undefined, journeyError: `The video call URL names no conversation journey: ${named}` };
}
