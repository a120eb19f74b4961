/** Contract: reconciliation of Cal.com bookings (B1, B2). */
import { byOperators, job, nullable, rpc, type Static, Type } from '#libs/contract';
import { Instant } from '../schemas.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const ReconcileResult = Type.Object({
  since: nullable(Instant('Bookings that changed then or later; null = all.')),
  dry_run: Type.Boolean(),
  listed: count('Bookings that Cal.com has.'),
  missing: count('Events that never came, or had no effect.'),
  fed: count('Of these the ones that are worked now; 0 in a dry run, and those that were fed before are not fed again.'),
  created: count('Missing: bookings.'),
  rescheduled: count('Missing: rescheduled bookings.'),
  cancelled: count('Missing: cancellations.'),
  attendees: count('Missing: attendees of bookings that are here, and of those with seats attendees who left.'),
  without_person: count('Bookings that are not here and whose host is nobody in the directory.'),
  without_journey: count('Bookings that are not here and whose call names no conversation journey.'),
});
export type ReconcileResult = Static<typeof ReconcileResult>;

export const reconcileRpcs = {
  reconcileBookings: rpc({
    subject: 'admin.conversations.bookings.reconcile',
    callers: byOperators,
    audit: 'booking.reconcile',
    summary: 'Compares the bookings of Cal.com with those here, in a job, and works what is missing as if its webhook had come.',
    request: Type.Object({
      since: Type.Optional(Instant('Only bookings that changed then or later; absent = all.')),
      dry_run: Type.Boolean({ description: 'Count, and change nothing.' }),
    }),
    reply: Type.Object({ job_id: Type.String() }),
    errors: { not_configured: { code: 'conflict', when: 'CALCOM_API_KEY is not set.' } },
  }),
} as const;

export const reconcileJobs = {
  bookingSeries: job({
    type: 'conversations.booking-series',
    summary: 'Cancels the occurrences of a series that Cal.com reports as cancelled beside the one that its webhook names (D81).',
    payload: Type.Object({
      booking_id: Type.Integer({ minimum: 1 }),
      person_id: Type.Integer({ minimum: 1 }),
      receipt_id: Type.Integer({ minimum: 1 }),
      uid: nullable(Type.String()),
      at: Type.String({ description: 'Of the webhook.' }),
      start: nullable(Type.String()),
    }),
    policy: { maxAttempts: 10, firstDelayMs: 2_000, maxDelayMs: 900_000, timeoutMs: 300_000, concurrency: 1 },
  }),
  bookingReconcile: job({
    type: 'conversations.booking-reconcile',
    summary: 'Compares the bookings of Cal.com with those here and works what is missing.',
    payload: Type.Object({ since: nullable(Type.String()), dry_run: Type.Boolean(), daily: Type.Boolean() }),
    policy: { maxAttempts: 5, firstDelayMs: 60_000, maxDelayMs: 900_000, timeoutMs: 3_600_000, concurrency: 1 },
  }),
} as const;
