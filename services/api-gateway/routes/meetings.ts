/** The meeting provider's webhook (rules/providers#realtimekit): it wakes imports that wait; what they import they fetch themselves. */
import { route, Type } from '#libs/contract';

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
