/**
 * Webhooks of the booking and meeting providers (rules/bookings#booking-webhook, rules/providers#realtimekit; D19a,
 * D20, D33d).
 */
import { route, Type } from '#libs/infrastructure/contract';
import { conversations } from '#services/conversations';

const bookingPath = '/api/coherence/hook/booking/{person_id}';

export const bookingRoutes = [
  route({
    method: 'POST',
    path: bookingPath,
    operationId: 'receiveBooking',
    tag: 'webhooks',
    summary: 'Receive a booking webhook',
    description:
      'Every request returns 200; the receipt shows the outcome. Only requests signed with `X-Cal-Signature-256` are applied.',
    auth: 'none',
    exemptFromShedding: true,
    params: Type.Object({ person_id: Type.String({ description: 'Id of the person who is booked.' }) }),
    rawBody: {
      contentType: 'application/json',
      description: "Cal.com's webhook, at most 4 MiB.",
      schema: Type.Object(
        {
          triggerEvent: Type.String({
            description: '`BOOKING_CREATED`, `BOOKING_RESCHEDULED`, `BOOKING_CANCELLED` or `BOOKING_REQUESTED`.',
          }),
        },
        { additionalProperties: true },
      ),
    },
    handler: 'booking-webhook',
    replies: { 200: { description: 'Stored.', schema: Type.Object({ ok: Type.Literal(true) }, { $id: 'Accepted' }) } },
  }),
  route({
    method: 'GET',
    path: bookingPath,
    operationId: 'explainBookingHook',
    tag: 'webhooks',
    summary: 'Show how to register the webhook',
    auth: 'none',
    params: Type.Object({ person_id: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, description: 'Any integer.' }) }),
    rpc: conversations.rpcs.bookingHint,
    etag: true,
    replies: { 200: { description: 'Plain text.', contentType: 'text/plain; charset=utf-8', schema: Type.String() } },
  }),
];

export const meetingRoutes = [
  route({
    method: 'POST',
    path: '/api/hook/meetings',
    operationId: 'receiveMeetingReport',
    tag: 'webhooks',
    summary: 'Receive a webhook of the meeting provider',
    description:
      "Every request returns 200; the receipt shows the outcome. The provider's signature `rtk-signature` is checked later; a delivery (`rtk-uuid`) is processed once.",
    auth: 'none',
    exemptFromShedding: true,
    rawBody: {
      contentType: 'application/json',
      description: "RealtimeKit's webhook, at most 4 MiB.",
      schema: Type.Object(
        { event: Type.String({ description: 'For example `recording.statusUpdate`, `meeting.transcript`.' }) },
        { additionalProperties: true },
      ),
    },
    handler: 'meeting-webhook',
    replies: { 200: { description: 'Stored.', schema: Type.Object({ ok: Type.Literal(true) }, { $id: 'Accepted' }) } },
  }),
];
