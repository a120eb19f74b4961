/** Inbound webhooks for operators, the same for every service that receives webhooks (P4). */
import type { Static } from 'typebox';
import { byUsers, notAnOperator } from './callers.ts';
import { rpc } from './declarations.ts';
import { nullable, Type } from './type.ts';

const instant = (description: string) => Type.String({ format: 'date-time', description });

export const webhookKinds = ['booking', 'meeting', 'telegram'] as const;

const facts = {
  id: Type.Integer({ description: 'Receipt id.' }),
  kind: Type.Enum([...webhookKinds]),
  received_at: instant('Time at which the gateway accepted it.'),
  outcome: Type.String({ description: 'Outcome, for example `applied`, `answered`, `rejected_signature`.' }),
  message: nullable(Type.String({ description: 'Result, or the reason for doing nothing.' })),
  event: nullable(Type.String({ description: 'Event type, for example `BOOKING_CREATED`.' })),
  person_id: nullable(Type.Integer({ description: 'Person in the URL path; null when the path has none.' })),
  agent_slug: nullable(Type.String({ description: 'Agent in the URL path.' })),
  conversation_id: nullable(Type.Integer({ description: 'Conversation that it created or changed.' })),
  update_id: nullable(Type.Integer({ description: 'Telegram id of the update.' })),
  chat_id: nullable(Type.Integer({ description: 'Telegram id of the chat.' })),
  reconciled: Type.Boolean({ description: 'Created by a reconciliation, because the webhook was lost (B2).' }),
  deliveries: Type.Integer({ description: 'Number of times that the same request was received.' }),
  processed_at: nullable(instant('Time of the last processing.')),
  body_digest: nullable(
    Type.String({ description: 'SHA-256 of the received body, in hex; null when the body was too large to read.' }),
  ),
  body_size: nullable(Type.Integer({ description: 'Size of the received body in bytes.' })),
};
export const webhookItem = Type.Object(facts);
export type WebhookItem = Static<typeof webhookItem>;

const send = Type.Object({
  part: Type.Integer({ description: '1 for the first part of the reply.' }),
  status: Type.String({ description: '`planned`, `sending`, `sent`, `unknown`, `refused`, `blocked` or `given_up`.' }),
  chat_id: nullable(Type.Integer({ description: 'Chat of the last attempt.' })),
  message_id: nullable(Type.Integer({ description: 'Telegram id of the sent message.' })),
  error: nullable(Type.String({ description: 'Failure of the last attempt.' })),
  updated_at: instant('Time of the last change.'),
});

export const webhookDetails = Type.Object({
  ...facts,
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Stored headers; secrets and signatures are `[redacted]`.',
  }),
  body: nullable(
    Type.String({ description: 'Received body with secrets redacted; null when it was not stored or was deleted.' }),
  ),
  sends: Type.Array(send, { description: 'Messages with the reply to a Telegram update.' }),
});

/** Filter for webhooks; an absent field does not filter. */
const filter = {
  kind: Type.Optional(Type.Enum([...webhookKinds])),
  outcome: Type.Optional(Type.String({ maxLength: 60 })),
  person_id: Type.Optional(Type.Integer()),
  from: Type.Optional(instant('Those that came then or later.')),
  to: Type.Optional(instant('Those that came before.')),
  q: Type.Optional(Type.String({ minLength: 3, maxLength: 200, description: 'Text in the body.' })),
};

/** Maximum number of ids per call, and of webhooks that one call can replay. */
export const maxReplayed = 10_000;

/** Counts of a replay, the same for each service and for all of them together. */
export const replayCounts = {
  selected: Type.Integer({ description: 'Matching webhooks, at most `limit`.' }),
  matched: Type.Integer({ description: 'Selected webhooks that can be replayed.' }),
  changed: Type.Integer({ description: 'Replayed webhooks; 0 in a dry run.' }),
  failed: Type.Integer({ description: 'Unknown ids, and webhooks counted in `no_agent`.' }),
  without_body: Type.Integer({ description: 'Selected webhooks without a stored body.' }),
  nothing_left: Type.Integer({ description: 'Selected webhooks that are already complete.' }),
  no_agent: Type.Integer({ description: 'Messages whose agent does not exist or has no secret to verify them.' }),
};
/** Maximum number of webhooks and jobs that the reply to a replay lists. */
export const maxListedReplays = 100;
export const replayLists = {
  items: Type.Array(webhookItem, { description: `The first ${maxListedReplays} replayable webhooks, oldest first.` }),
  job_ids: Type.Array(Type.String(), {
    description: `Jobs that process the webhooks, at most ${maxListedReplays} of each kind.`,
  }),
};

const changeReply = Type.Object({
  ...replayCounts,
  ...replayLists,
  more: Type.Boolean({ description: 'More match than one call takes: the oldest were taken.' }),
});
export type WebhookChange = Static<typeof changeReply>;

/** Returns the RPCs for the contract of a service that receives webhooks. */
export function webhookAdminRpcs(service: string) {
  return {
    listWebhooks: rpc({
      subject: `${service}.operations.list-webhooks`,
      callers: byUsers,
      summary: 'Webhooks that match, newest first',
      request: Type.Object({
        ...filter,
        before: Type.Optional(
          Type.Object({
            at: instant('Webhooks before this time'),
            id: Type.Integer({ description: 'or at this time with a lower id.' }),
          }),
        ),
        limit: Type.Integer({ minimum: 1, maximum: 201 }),
      }),
      reply: Type.Object({ items: Type.Array(webhookItem) }),
      errors: notAnOperator,
    }),
    showWebhook: rpc({
      subject: `${service}.operations.show-webhook`,
      callers: byUsers,
      summary: 'One webhook with its headers and body, without secrets. 404 when absent.',
      request: Type.Object({ id: Type.Integer() }),
      reply: webhookDetails,
      errors: notAnOperator,
    }),
    replayWebhooks: rpc({
      subject: `${service}.operations.replay-webhooks`,
      callers: byUsers,
      audit: 'webhook.replay',
      summary: 'Works webhooks again: those named, or those that match, oldest first',
      request: Type.Object({
        ...filter,
        ids: Type.Optional(Type.Array(Type.Integer(), { maxItems: maxReplayed })),
        limit: Type.Integer({ minimum: 1, maximum: maxReplayed }),
        dry_run: Type.Optional(Type.Boolean()),
      }),
      reply: changeReply,
      timeoutMs: 60_000,
      errors: notAnOperator,
    }),
  };
}
