/**
 * Job `conversations.booking-series` (D81). Cal.com sends only one webhook when the rest of a series is cancelled, so
 * the job requests the other occurrences and submits the missing cancellations.
 */
import type { PayloadOf } from '#libs/infrastructure/contract';
import { unavailable } from '#libs/infrastructure/errors';
import type { JobRun } from '#libs/infrastructure/jobs';
import { directory } from '#services/directory';
import type { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CalBooking, CalCom } from '../cal-com.ts';
import { submitMissingIn } from './workers.ts';

import { findKnown, findOccurrences } from './statements.ts';

type Run = JobRun<PayloadOf<typeof conversations.jobs.bookingSeries>>;
type Occurrence = Awaited<ReturnType<typeof findOccurrences>>[number];

const maxOccurrences = 500;
/**
 * Number of attempts while Cal.com reports the booking as accepted, because it can send the webhook before it stores
 * the cancellation.
 */
const maxAttemptsWhileAccepted = 4;
/** Maximum number of occurrences that a note names. */
const maxNamed = 50;

export function createSeriesWorker(dependencies: Dependencies) {
  const { calCom } = dependencies;
  return async (run: Run): Promise<void> => {
    const { booking_id: bookingId, person_id: hostId, start } = run.payload;
    const known = await findOccurrences(dependencies.db, { bookingId, hostId, from: start, limit: maxOccurrences });
    if (calCom === undefined) return noteOccurrences(dependencies, run, known);
    // The query time is never before the time of the webhook.
    const queriedAt =
      [new Date().toISOString(), run.payload.at].toSorted((one, other) => Date.parse(one) - Date.parse(other)).at(-1) ??
      '';
    const cancelled = await listCancelled(dependencies, run, calCom, known);
    const missing = cancelled.map((tip) => ({
      event: {
        trigger: 'BOOKING_CANCELLED',
        isRoster: false,
        usesQueryTime: true,
        usesUpdateTime: false,
        hasSeats: false,
      } as const,
      tip,
      formerUids: [],
      personId: hostId,
    }));
    await run.complete(async (tx) => {
      await submitMissingIn(dependencies, tx, run, missing, queriedAt);
      return { known: known.length, cancelled: missing.length };
    });
  };
}

/**
 * Returns the known occurrences that Cal.com reports as cancelled. @throws AppError unavailable until Cal.com reports
 * the cancellation of the booking in the webhook
 */
async function listCancelled(
  { db }: Dependencies,
  run: Run,
  calCom: CalCom,
  known: readonly Occurrence[],
): Promise<CalBooking[]> {
  const { uid, start } = run.payload;
  const named = uid === null ? undefined : await calCom.findBooking(uid, run);
  if (named?.status === 'accepted' && run.attempt <= maxAttemptsWhileAccepted)
    throw unavailable('Cal.com does not report the cancellation yet');
  const seriesUid = named?.seriesUid ?? null;
  const series = seriesUid === null ? [] : await calCom.listSeries(seriesUid, run);
  const reported = new Map(series.map((booking) => [booking.uid, booking]));
  for (const occurrence of known) {
    if (reported.has(occurrence.uid)) continue;
    const booking = await calCom.findBooking(occurrence.uid, run);
    if (booking !== undefined) reported.set(booking.uid, booking);
  }
  const later = [...reported.values()].filter(
    (booking) =>
      booking.uid !== uid &&
      booking.status === 'cancelled' &&
      (start === null || booking.start === null || !(Date.parse(booking.start) < Date.parse(start))),
  );
  const here = await findKnown(db, { identifiers: later.map((booking) => `uid:${booking.uid}`) });
  const live = new Set(here.filter(({ conversationId }) => conversationId !== null).map((row) => row.uid));
  return later.filter((booking) => live.has(booking.uid));
}

/** Without an API key, adds a note for the host that lists the conversations which may be cancelled. */
async function noteOccurrences({ jobs }: Dependencies, run: Run, known: readonly Occurrence[]): Promise<void> {
  const { person_id: hostId, receipt_id: receiptId } = run.payload;
  const named = known
    .slice(0, maxNamed)
    .map(
      ({ id, title, start }) =>
        `${title === null ? 'without a title' : `"${title}"`}, ${start ?? 'no start'} (conversation ${id})`,
    );
  const more = known.length > named.length ? ` and ${known.length - named.length} more` : '';
  const which =
    known.length === 0 ? 'Check the conversations of the same series.' : `Look at ${named.join('; ')}${more}.`;
  const body = `Several occurrences of a series were cancelled in Cal.com. Without CALCOM_API_KEY it is not known which later conversations are over. ${which}`;
  const note = {
    key: `booking-series:${receiptId}`,
    person_ids: [hostId],
    body,
    note_type: 'booking',
    author_person_id: null,
  };
  await run.complete((tx) => jobs.enqueue(tx, directory.jobs.noteAdd, note, { requestId: run.requestId }));
}
