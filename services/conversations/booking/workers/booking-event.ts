/**
 * Processes the receipt of a booking webhook (rules/bookings#booking-webhook; D19, D19a). Calls the directory first.
 * Then one transaction locks the uids of the event, matches the booking again and applies the event; the job is retried
 * when the match has changed. Receipts of a booking are processed in order of receipt (D80).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PayloadOf } from '#libs/infrastructure/contract';
import { type JobRun, RetryLater } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { emitBookingRefused } from '../../feed/index.ts';
import { findReceipt, type Settlement, settleReceipt, type StoredReceipt } from '../../receipts/index.ts';
import { DataTooLarge } from '../../refusals.ts';
import {
  allIdentifiersOf,
  type BookingEvent,
  type SignaturePolicy,
  identifiersOf,
  classifyWebhook,
  readWebhook,
  signatureHeader,
  type Classification,
} from '../rules/booking-event.ts';
import { addLink } from '../statements/attendance.ts';
import { type BookingRow, findEarlierReceipt } from '../statements/booking.ts';
import { applyBooking } from './apply.ts';
import { addErrorNote, retryWaitingReceipts } from './create.ts';
import { findMatch, lockMatch, type Match } from './match.ts';
import { mergeBookings } from './merge.ts';
import { prepare, type PreparedEvent, type Refusal } from './prepare.ts';
import { applySeats, followRequests } from './seats.ts';

/** How long to wait for an earlier receipt that is running or due, before the job is delayed. */
const waitMs = { running: 5_000, due: 300, poll: 20, delay: 100, maxDelay: 30_000 };

export function createBookingEventWorker(dependencies: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.bookingEvent>>): Promise<void> => {
    const receipt = await findReceipt(dependencies.db, { id: run.payload.receipt_id });
    if (receipt === undefined || receipt.body === null) return; // a receipt without a body cannot be processed
    const classification = classifyReceipt(receipt.body, receipt, dependencies.config);
    if (classification.kind !== 'booking') {
      const outcome = classification.kind === 'rejected' ? classification.outcome : 'ignored';
      return run.complete((tx) => settleReceipt(tx, receipt.id, { outcome, message: classification.message }));
    }
    const { event } = classification;
    if (receipt.outcome === 'pending')
      await waitForEarlierReceipts(dependencies, receipt.id, identifiersOf(event), run.signal);
    const prepared = await prepare(dependencies, receipt, event, run);
    // Even a rejected event can link two bookings.
    const link =
      'outcome' in prepared && isLink(event) ? await prepareLink(dependencies, receipt, event, run) : undefined;
    const more = { identifiers: allIdentifiersOf(event), trigger: event.trigger };
    try {
      await run.complete(async (tx) => {
        if (link !== undefined) await applyLocked(dependencies, tx, link);
        const settlement =
          'outcome' in prepared
            ? await refuse(dependencies, tx, receipt, { refusal: prepared, event }, run)
            : await applyLocked(dependencies, tx, prepared);
        await settle(dependencies, tx, receipt, { ...settlement, ...more });
      });
    } catch (error) {
      const refusal = dependencies.refusals.explain(error);
      if (!(refusal instanceof DataTooLarge)) throw error;
      const tooLarge = { outcome: 'refused_data_too_large', message: refusal.message } as const;
      const unstored = isLink(event) ? await prepareLink(dependencies, receipt, event, run) : undefined;
      await run.complete(async (tx) => {
        if (unstored !== undefined) await applyLocked(dependencies, tx, unstored);
        const settlement = await refuse(dependencies, tx, receipt, { refusal: tooLarge, event }, run);
        await settle(dependencies, tx, receipt, { ...settlement, ...more });
      });
    }
  };
}

/**
 * Returns the event as a reschedule request that links two bookings. Returns undefined when the bookings do not belong
 * to this installation.
 */
async function prepareLink(
  ...[dependencies, receipt, event, run]: Parameters<typeof prepare>
): Promise<PreparedEvent | undefined> {
  const prepared = await prepare(dependencies, receipt, { ...event, trigger: 'BOOKING_REQUESTED' }, run);
  return 'outcome' in prepared ? undefined : prepared;
}

/**
 * Waits until earlier receipts of the same booking are processed. @throws RetryLater when an earlier receipt is still
 * unprocessed after the wait
 */
async function waitForEarlierReceipts(
  { db }: Dependencies,
  receiptId: number,
  identifiers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { type } = conversations.jobs.bookingEvent;
  for (const since = performance.now(); ; await sleep(waitMs.poll, undefined, { signal })) {
    const earlier = await findEarlierReceipt(db, { receiptId, identifiers, jobType: type });
    if (earlier === undefined) return;
    if (performance.now() - since < (earlier.is_running ? waitMs.running : waitMs.due)) continue;
    const delayMs = waitMs.delay + Math.min(earlier.wait_ms, waitMs.maxDelay);
    throw new RetryLater('An earlier receipt of this booking is processed first', { delayMs });
  }
}

/** Returns the settlement of a refused event, with the conversation of its booking, whose timeline shows it (W9). */
async function refuse(
  dependencies: Dependencies,
  tx: Tx,
  { id: receiptId, person_id: hostId }: StoredReceipt,
  { refusal, event }: { readonly refusal: Refusal; readonly event: BookingEvent },
  { requestId }: JobRun<unknown>,
): Promise<Settlement> {
  const { hostNote, ...settlement } = refusal;
  if (hostNote !== undefined)
    await addErrorNote(dependencies, tx, { ...hostNote, receiptId, requestId, message: settlement.message });
  if (settlement.outcome === 'person_not_found') return settlement;
  const { bookings, isAmbiguous } = await findMatch(tx, event, Number(hostId));
  const conversationId = isAmbiguous ? undefined : (bookings[0]?.conversation_id ?? undefined);
  return { ...settlement, conversationId };
}

/** Settles the receipt. A replay with an unchanged outcome is not published again (V9). */
async function settle(
  { eventOutbox }: Dependencies,
  tx: Tx,
  receipt: StoredReceipt,
  settlement: Settlement,
): Promise<void> {
  await settleReceipt(tx, receipt.id, settlement);
  if (settlement.outcome !== receipt.outcome)
    emitBookingRefused(eventOutbox, tx, Number(receipt.person_id), settlement.outcome);
}

/**
 * Classifies a stored webhook. A signature that was verified on receipt remains valid after its secret was rotated
 * (K8).
 */
function classifyReceipt(
  body: Buffer,
  { was_signed: wasSigned, headers }: StoredReceipt,
  policy: SignaturePolicy,
): Classification {
  if (wasSigned) return readWebhook(body, true);
  return classifyWebhook({ body, signature: (JSON.parse(headers) as Record<string, string>)[signatureHeader] }, policy);
}

async function applyLocked(dependencies: Dependencies, tx: Tx, prepared: PreparedEvent): Promise<Settlement> {
  const { event } = prepared;
  const match = await lockMatch(tx, event, prepared.personId);
  if (match.isAmbiguous)
    return {
      outcome: 'ambiguous_booking',
      message: 'Several bookings have this bookingId or iCalUID, and the event has no uid.',
    };
  const settlement = await applyMatched(dependencies, tx, match, prepared);
  if (settlement.outcome === 'journey_error') await storeLink(dependencies, tx, match, prepared);
  if (settlement.outcome !== 'waiting') await retryWaitingReceipts(dependencies, tx, match.uids, prepared);
  return settlement;
}

async function applyMatched(
  dependencies: Dependencies,
  tx: Tx,
  match: Match,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const { event } = prepared;
  if (event.trigger === 'BOOKING_REQUESTED') return storeLink(dependencies, tx, match, prepared);
  const [first, ...others] = match.bookings;
  if (first !== undefined && first.attendee_key !== prepared.attendeeKey)
    throw new RetryLater('Another event changed the booking at the same time', { delayMs: 0 });
  if (event.hasSeats) return applySeats(dependencies, tx, match, prepared);
  let booking: BookingRow | undefined = first;
  for (const other of others)
    if (booking !== undefined) booking = await mergeBookings(dependencies, tx, booking, other, prepared);
  return applyBooking(dependencies, tx, booking, prepared);
}

/** Returns whether the event links two bookings. */
export const isLink = ({ uid, rescheduleUid }: BookingEvent): boolean =>
  uid !== null && rescheduleUid !== null && uid !== rescheduleUid;

/** Stores the link, and merges bookings that were confirmed before the reschedule request was received (D79, D102). */
export async function storeLink(
  dependencies: Dependencies,
  tx: Tx,
  match: Match,
  prepared: PreparedEvent,
): Promise<Settlement> {
  const { event, at, personId } = prepared;
  const { uid, rescheduleUid, hasSeats, attendees } = event;
  if (uid === null || rescheduleUid === null || uid === rescheduleUid)
    return {
      outcome: 'ignored',
      message: 'The request does not reschedule a booking; its confirmation is processed instead.',
    };
  const keys = hasSeats ? attendees.map(({ key }) => key) : [];
  await addLink(tx, { uid, formerUid: rescheduleUid, attendees: keys, at: formatInstant(at) });
  if (keys.length > 0) await followRequests(dependencies, tx, await lockMatch(tx, event, personId), prepared);
  else {
    const [first, ...others] = match.bookings;
    let booking: BookingRow | undefined = first;
    for (const other of others)
      if (booking !== undefined) booking = await mergeBookings(dependencies, tx, booking, other, prepared);
  }
  return { outcome: 'applied', message: 'The link to the earlier booking is stored.' };
}
