/** Contract of webhooks of the meeting provider. */
import { event, job, Type } from '#libs/infrastructure/contract';

/** Facts about a meeting webhook that the gateway publishes in addition to its body. */
export const MeetingWebhook = Type.Object({
  id: Type.String({ description: 'Request id of the intake; one per request.' }),
  received_at: Type.String({ format: 'date-time' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Lower-case names: rtk-signature, rtk-uuid, rtk-webhook-id.',
  }),
});

export const meetingWebhookSubject = 'webhooks.conversations.meetings';

export const meetingJobs = {
  meetingReport: job({
    type: 'conversations.meeting-report',
    summary: 'Checks a webhook of the meeting provider and publishes it for the conversations of its meeting.',
    payload: Type.Object({ receipt_id: Type.Integer({ minimum: 1 }) }),
    policy: { maxAttempts: 20, firstDelayMs: 500, maxDelayMs: 300_000, timeoutMs: 60_000, concurrency: 4 },
  }),
} as const;

export const meetingEvents = {
  meetingReported: event({
    subject: 'events.conversations.meeting.reported',
    summary: "The meeting provider reported an event of a conversation's meeting; waiting jobs can poll now.",
    payload: Type.Object({
      conversation_id: Type.Integer(),
      report: Type.String({ description: 'e.g. `recording.statusUpdate`' }),
    }),
  }),
} as const;

export const meetingConsumers = {
  meetings: { stream: 'WEBHOOKS', durable: 'conversations-meetings', filter: meetingWebhookSubject },
} as const;
