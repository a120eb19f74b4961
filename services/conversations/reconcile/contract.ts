/** Contract of the reconciliation of Cal.com bookings (B1, B2). */
import { byUsers, job, notAnOperator, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { Instant } from '../schemas.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const ReconcileResult = Type.Object({
  since: nullable(Instant('Bookings updated then or later; null = all.')),
  dry_run: Type.Boolean(),
  listed: count('Bookings at Cal.com.'),
  missing: count('Events that were lost or had no effect.'),
  fed: count('Missing events submitted by this run; 0 in a dry run. Events submitted before are not counted.'),
  created: count('Missing: bookings.'),
  rescheduled: count('Missing: rescheduled bookings.'),
  cancelled: count('Missing: cancellations.'),
  attendees: count('Missing: attendees of known bookings and, with seats, departures.'),
  without_person: count('Unknown bookings whose host is not in the directory.'),
  without_journey: count('Unknown bookings whose video call URL names no conversation journey.'),
});
export type ReconcileResult = Static<typeof ReconcileResult>;

export const reconcileRpcs = {
  reconcileBookings: rpc({
    subject: 'conversations.operations.reconcile-bookings',
    callers: byUsers,
    audit: 'booking.reconcile',
    summary: 'Starts a job that compares the bookings of Cal.com with the known ones and processes lost events.',
    request: Type.Object({
      since: Type.Optional(Instant('Only bookings updated then or later; absent = all.')),
      dry_run: Type.Optional(Type.Boolean({ description: 'Count without changing anything.' })),
    }),
    reply: Type.Object({ job_id: Type.String() }),
    errors: { not_configured: { code: 'conflict', when: 'CALCOM_API_KEY is not set.' }, ...notAnOperator },
  }),
} as const;

export const reconcileJobs = {
  bookingSeries: job({
    type: 'conversations.booking-series',
    summary: 'Cancels the other occurrences of a series that Cal.com reports as cancelled (D81).',
    payload: Type.Object({
      booking_id: Type.Integer({ minimum: 1 }),
      person_id: Type.Integer({ minimum: 1 }),
      receipt_id: Type.Integer({ minimum: 1 }),
      uid: nullable(Type.String()),
      at: Type.String({ description: 'Time of the webhook.' }),
      start: nullable(Type.String()),
    }),
    policy: { maxAttempts: 10, firstDelayMs: 2_000, maxDelayMs: 900_000, timeoutMs: 300_000, concurrency: 1 },
  }),
  bookingReconcile: job({
    type: 'conversations.booking-reconcile',
    summary: 'Compares the bookings of Cal.com with the known ones and processes lost events.',
    payload: Type.Object({ since: nullable(Type.String()), dry_run: Type.Boolean(), daily: Type.Boolean() }),
    policy: { maxAttempts: 5, firstDelayMs: 60_000, maxDelayMs: 900_000, timeoutMs: 3_600_000, concurrency: 1 },
  }),
} as const;
