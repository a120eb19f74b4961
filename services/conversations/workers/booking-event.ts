/**
 * Works one receipt of a booking webhook (rules/bookings#booking-webhook; D19, D19a). What needs the directory is asked first; then, in one
 * transaction under locks on the event's identifiers, the booking is matched again and the event applied. When the match has changed in
 * between, the job runs again.
 */
import type { PayloadOf } from '#libs/contract';
import { AppError } from '#libs/errors';
import { RetryLater, type JobRun } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import type { Instant } from '#libs/time';
import { directory } from '#services/directory';
import type { conversations } from '../contract.ts';
import { isPossibleId } from '../conversation-view.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CachedJourney } from '../directory/directory-cache.ts';
import { DataTooLarge } from '../domain/data-size.ts';
import { chooseBookings, judgeWebhook, readJourneyHint, type BookingEvent } from '../domain/booking.ts';
import { parseSqlInstant } from '../domain/representation.ts';
import { findBookings, lockBookings, lockIdentifiers } from '../repositories/booking.ts';
import { getReceipt, type Settlement, settleReceipt } from '../repositories/receipt.ts';
import type { StoredReceipt } from '../handlers/receipt.ts';
import { applyBooking } from './booking-apply.ts';
import { mergeBookings } from './booking-merge.ts';
import { signatureHeader } from './webhook-intake.ts';

export interface BookingRow {
  readonly id: number;
  readonly conversation_id: number | null;
  /** Under which attendees without an email were made people. */
  readonly attendee_key: string;
  readonly cancelled: boolean;
  readonly last_event_at: string;
}

interface MatchedBooking extends BookingRow {
  /** What the event names it by. */
  readonly identifier: string;
}

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
  /** Why no conversation can be made of it, or its journey; undefined when no journey is needed. */
  readonly journey: CachedJourney | string | undefined;
  readonly run: JobRun<unknown>;
}

export function createBookingEventWorker(dependencies: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.bookingEvent>>): Promise<void> => {
    const [receipt] = await dependencies.db.query<StoredReceipt>(getReceipt, [run.payload.receipt_id]);
    if (receipt === undefined || receipt.body === null) return; // nothing is left that could be worked
    const headers = JSON.parse(receipt.headers) as Record<string, string>;
    const verdict = judgeWebhook({ body: receipt.body, signature: headers[signatureHeader] }, dependencies.config);
    if (verdict.kind !== 'booking') {
      const outcome = verdict.kind === 'rejected' ? verdict.outcome : 'ignored';
      return run.complete((tx) => settleReceipt(tx, receipt.id, { outcome, message: verdict.message }));
    }
    const { event } = verdict;
    const prepared = await prepare(dependencies, receipt, event, run);
    const more = { identifiers: event.matchers, trigger: event.trigger };
    try {
      await run.complete(async (tx) => {
        const settlement = 'outcome' in prepared ? prepared : await applyLocked(dependencies, tx, prepared);
        await settleReceipt(tx, receipt.id, { ...settlement, ...more });
      });
    } catch (error) {
      const refusal = dependencies.refusals.explain(error);
      if (!(refusal instanceof DataTooLarge)) throw error;
      const settlement: Settlement = { outcome: 'refused_data_too_large', message: refusal.message };
      await run.complete((tx) => settleReceipt(tx, receipt.id, { ...settlement, ...more }));
    }
  };
}

/** Everything that needs another service, before any lock. */
async function prepare(
  dependencies: Dependencies,
  receipt: StoredReceipt,
  event: BookingEvent,
  run: JobRun<unknown>,
): Promise<PreparedEvent | Settlement> {
  const { db, bus, directory: cache, config } = dependencies;
  const personId = /^[0-9]{1,10}$/.test(receipt.person_id) ? Number(receipt.person_id) : 0;
  const known = isPossibleId(personId) && (await cache.people.getMany([personId])).has(personId);
  if (!known) return { outcome: 'person_not_found', message: 'The person of the path does not exist.' };
  if (event.identifiers.length === 0) return { outcome: 'rejected_unidentified', message: 'The event has no uid, id or iCalUID.' };
  if (event.matchers.length === 0)
    return { outcome: 'rejected_unidentified', message: 'A cancellation without a uid counts when it is signed.' };
  const matched = chooseBookings(await db.query<MatchedBooking>(findBookings, [event.matchers]));
  const attendeeKey = matched[0]?.attendee_key ?? `cal.com:${event.identifiers[0]}`;
  const cancels = event.trigger === 'BOOKING_CANCELLED';
  const creates = !cancels && matched.every((booking) => booking.conversation_id === null);
  // Several bookings become one, and what is left of them may be a cancelled one: then a conversation is needed after all.
  const mayCreate = creates || (!cancels && matched.length > 1);
  const journey = mayCreate ? await findJourney(dependencies, event) : undefined;
  const at = event.createdAt ?? parseSqlInstant(receipt.received_at);
  const base = { receiptId: receipt.id, event, at, personId, attendeeKey, journey, run };
  if (cancels || (creates && typeof journey === 'string') || event.attendees.length === 0) return { ...base, personIds: [personId] };
  const request = { attendees: [...event.attendees], create: config.BOOKING_CREATE_ATTENDEES, key: attendeeKey };
  try {
    const { person_ids } = await bus.call(directory.rpcs.resolveAttendees, request, run.context);
    return { ...base, personIds: [personId, ...person_ids.filter((id) => id !== null)] };
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'too_many_new_people') throw error;
    return { outcome: 'refused_too_many_attendees', message: error.message };
  }
}

/** The conversation journey that the video call URL names, or why there is none (D19, D19a). */
async function findJourney({ directory: cache }: Dependencies, event: BookingEvent): Promise<CachedJourney | string> {
  const hint = readJourneyHint(event.videoCallUrl);
  if (hint === undefined) return 'The booking has no video call URL that could name a journey.';
  const journeys = await cache.findJourneysBySlugs(hint.slugs);
  const journey = journeys.find((item) => item.isConversation);
  if (journey !== undefined) return journey;
  const named = hint.named ? `"${(hint.slugs[0] ?? '').slice(0, 200)}" is no conversation journey.` : 'no part of its path is one.';
  return `The video call URL names no conversation journey: ${named}`;
}

async function applyLocked(dependencies: Dependencies, tx: Tx, prepared: PreparedEvent): Promise<Settlement> {
  const { identifiers, matchers } = prepared.event;
  await tx.query(lockIdentifiers, [identifiers]);
  let booking: BookingRow | undefined;
  for (const item of chooseBookings(await tx.query<MatchedBooking>(lockBookings, [matchers]))) {
    booking = booking === undefined ? item : await mergeBookings(dependencies, tx, booking, item, prepared);
  }
  const isStale = booking !== undefined && prepared.at < parseSqlInstant(booking.last_event_at);
  const cancels = prepared.event.trigger === 'BOOKING_CANCELLED';
  const lacksJourney = !isStale && !cancels && (booking?.conversation_id ?? null) === null && prepared.journey === undefined;
  if ((booking?.attendee_key ?? prepared.attendeeKey) !== prepared.attendeeKey || lacksJourney) {
    throw new RetryLater('The booking was changed by another event at the same time', { delayMs: 0 });
  }
  return applyBooking(dependencies, tx, booking, prepared);
}
