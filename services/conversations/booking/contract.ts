/** Contract of booking webhooks. */
import { byGateway, job, rpc, Type } from '#libs/infrastructure/contract';
import { AnyId } from '../schemas.ts';

/**
 * Facts about a booking webhook that the gateway publishes with its body on `webhooks.conversations.bookings`
 * (architecture#webhooks).
 */
export const BookingWebhook = Type.Object({
  id: Type.String({ description: 'Request id of the intake; one per delivery.' }),
  received_at: Type.String({ format: 'date-time' }),
  person_id: Type.String({ description: 'Person id of the path, as sent.' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Lower-case names: x-cal-signature-256, content-type, x-cal-webhook-version.',
  }),
});

export const bookingWebhookSubject = 'webhooks.conversations.bookings';

export const bookingRpcs = {
  bookingHint: rpc({
    subject: 'conversations.bookings.hint',
    callers: byGateway,
    summary: 'Plain text on how to register the booking webhook.',
    request: Type.Object({ person_id: AnyId }),
    reply: Type.String(),
  }),
} as const;

export const bookingJobs = {
  bookingEvent: job({
    type: 'conversations.booking-event',
    summary: 'Processes the booking webhook of a receipt.',
    payload: Type.Object({ receipt_id: Type.Integer({ minimum: 1 }) }),
    policy: { maxAttempts: 20, firstDelayMs: 500, maxDelayMs: 300_000, timeoutMs: 60_000, concurrency: 4 },
  }),
} as const;

export const bookingConsumers = {
  bookings: { stream: 'WEBHOOKS', durable: 'conversations-bookings', filter: bookingWebhookSubject },
} as const;
