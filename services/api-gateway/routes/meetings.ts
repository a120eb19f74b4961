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
      "Everything is answered with 200, whatever it is; what became of it is in the receipt. The provider's signature `rtk-signature` is checked later; a delivery (`rtk-uuid`) counts once.",
    auth: 'none',
    exemptFromShedding: true,
    rawBody: {
      contentType: 'application/json',
      description: "RealtimeKit's webhook, at most 4 MiB.",
      schema: Type.Object(
        { event: Type.String({ description: 'e.g. `recording.statusUpdate`, `meeting.transcript`.' }) },
        { additionalProperties: true },
      ),
    },
    handler: 'meeting-webhook',
    replies: { 200: { description: 'Stored.', schema: Type.Object({ ok: Type.Literal(true) }, { $id: 'Accepted' }) } },
  }),
];
