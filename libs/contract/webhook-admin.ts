/** Inbound webhooks for operators, the same for every service that receives webhooks (P4). */
import type { Static, TProperties } from 'typebox';
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
  deliveries: Type.Integer({ description: 'Number of times that the same request was received.' }),
  processed_at: nullable(instant('Time of the last processing.')),
  body_digest: nullable(
    Type.String({ description: 'SHA-256 of the received body, in hex; null when the body was too large to read.' }),
  ),
  body_size: nullable(Type.Integer({ description: 'Size of the received body in bytes.' })),
};
export const webhookItem = Type.Object(facts);
export type WebhookItem = Static<typeof webhookItem>;

export const webhookDetails = Type.Object({
  ...facts,
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Stored headers; secrets and signatures are `[redacted]`.',
  }),
  body: nullable(
    Type.String({ description: 'Received body with secrets redacted; null when it was not stored or was deleted.' }),
  ),
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

const changeReply = Type.Object({
  matched: Type.Integer({ description: 'Webhooks that can be worked again.' }),
  changed: Type.Integer({ description: 'Those that are worked again; 0 in a dry run.' }),
  failed: Type.Integer({
    description: 'Ids without a webhook, and those whose agent does not exist or has no secret to judge them by.',
  }),
  without_body: Type.Integer({
    description: 'Those that match and whose body is not kept: nothing is done with them.',
  }),
  more: Type.Boolean({ description: 'More match than one call takes: the oldest were taken.' }),
  items: Type.Array(webhookItem, { description: 'The first hundred that matched, oldest first.' }),
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
        dry_run: Type.Optional(Type.Boolean()),
      }),
      reply: changeReply,
      timeoutMs: 60_000,
      errors: notAnOperator,
    }),
  };
}

/** Returns the schema of a filter for receipts by time and outcome. */
export function receiptFilter<Outcome extends string>(outcomes: readonly Outcome[]) {
  return {
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Those that came then or later.' })),
    until: Type.Optional(Type.String({ format: 'date-time', description: 'Those that came before.' })),
    outcome: Type.Optional(Type.Enum([...outcomes], { description: 'Only those with this outcome.' })),
    text: Type.Optional(
      Type.String({ minLength: 3, maxLength: 200, description: 'Only those whose body has this text.' }),
    ),
  };
}

/** Returns the request schema of a list of receipts. */
export function receiptList<Filter extends TProperties>(filter: Filter) {
  return Type.Object({
    ...filter,
    before: Type.Optional(
      Type.Object({
        at: Type.String({ format: 'date-time', description: 'Webhooks before this time' }),
        id: Type.Integer({ description: 'or at this time with a lower id.' }),
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_001, description: 'Default 100.' })),
  });
}

/** Returns the request schema of a replay by filter. */
export function receiptReplay<Filter extends TProperties>(filter: Filter) {
  return Type.Object({ ...filter, limit: Type.Integer({ minimum: 1, maximum: maxReplayed }), dry_run: Type.Boolean() });
}

/** Result of a replay by filter. With `dry_run` it is the result that the replay would have. */
export const receiptReplayResult = Type.Object({
  matched: Type.Integer(),
  replayed: Type.Integer({ description: 'Webhooks that are processed again.' }),
  without_body: Type.Integer({
    description: 'Webhooks that cannot be replayed, because their body was not stored or was deleted.',
  }),
  nothing_left: Type.Integer({ description: 'Webhooks that are already complete.' }),
  more: Type.Boolean({ description: 'More match than `limit`: the oldest were taken.' }),
});
