/**
 * Works one receipt of a booking webhook (rules/bookings#booking-webhook; D19, D19a). What needs the directory is asked first; then, in one
 * transaction under locks on the event's identifiers, the booking is matched again and the event applied. When the match has changed in
 * between, the job runs again.
 */
import type { PayloadOf } from '#libs/contract';
import { type JobRun, RetryLater } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import type { conversations } from '../../contract.ts';
import { DataTooLarge } from '../../data-size.ts';
import type { Dependencies } from '../../dependencies.ts';
import { tellRefused } from '../../feed/index.ts';
import { findReceipt, type Settlement, settleReceipt, type StoredReceipt } from '../../receipts/index.ts';
import { parseSqlInstant } from '../../sql-values.ts';
import { chooseBookings } from '../rules/booking-event.ts';
import { type BookingRow, lockBookings, lockIdentifiers } from '../statements.ts';
import { type BookingTrust, judgeWebhook, readWebhook, signatureHeader, type Verdict } from '../verdict.ts';
import { applyBooking } from './apply.ts';
import { mergeBookings } from './merge.ts';
import { prepare, type PreparedEvent } from './prepare.ts';

export function createBookingEventWorker(dependencies: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.bookingEvent>>): Promise<void> => {
    const receipt = await findReceipt(dependencies.db, { id: run.payload.receipt_id });
    if (receipt === undefined || receipt.body === null) return; // nothing is left that could be worked
    const verdict = judgeReceipt(receipt.body, receipt, dependencies.config);
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
        await settle(dependencies, tx, receipt, { ...settlement, ...more });
      });
    } catch (error) {
      const refusal = dependencies.refusals.explain(error);
      if (!(refusal instanceof DataTooLarge)) throw error;
      const settlement: Settlement = { outcome: 'refused_data_too_large', message: refusal.message };
      await run.complete((tx) => settle(dependencies, tx, receipt, { ...settlement, ...more }));
    }
  };
}

/** A receipt that is replayed and ends as it had ended is no news (V9). */
async function settle({ news }: Dependencies, tx: Tx, receipt: StoredReceipt, settlement: Settlement): Promise<void> {
  await settleReceipt(tx, receipt.id, settlement);
  if (settlement.outcome !== receipt.outcome) tellRefused(news, tx, Number(receipt.person_id), settlement.outcome);
}

/** What was well signed when it came stays so, whichever secrets there are now (K8). */
function judgeReceipt(body: Buffer, { was_signed: wasSigned, headers }: StoredReceipt, trust: BookingTrust): Verdict {
  if (wasSigned) return readWebhook(body, true);
  return judgeWebhook({ body, signature: (JSON.parse(headers) as Record<string, string>)[signatureHeader] }, trust);
}

async function applyLocked(dependencies: Dependencies, tx: Tx, prepared: PreparedEvent): Promise<Settlement> {
  const { identifiers, matchers } = prepared.event;
  await lockIdentifiers(tx, { identifiers });
  let booking: BookingRow | undefined;
  for (const item of chooseBookings(await lockBookings(tx, { identifiers: matchers }))) {
    booking = booking === undefined ? item : await mergeBookings(dependencies, tx, booking, item, prepared);
  }
  const isStale = booking !== undefined && prepared.at < parseSqlInstant(booking.last_event_at);
  const cancels = prepared.event.trigger === 'BOOKING_CANCELLED';
  const wasJourneySought = prepared.journey !== undefined || prepared.journeyError !== undefined;
  const lacksJourney = !isStale && !cancels && (booking?.conversation_id ?? null) === null && !wasJourneySought;
  if ((booking?.attendee_key ?? prepared.attendeeKey) !== prepared.attendeeKey || lacksJourney) {
    throw new RetryLater('The booking was changed by another event at the same time', { delayMs: 0 });
  }
  return applyBooking(dependencies, tx, booking, prepared);
}
