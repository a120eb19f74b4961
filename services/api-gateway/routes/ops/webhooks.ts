/** Inbound webhooks of all services (P4). */
import {
  maxReplayed,
  replayCounts,
  replayLists,
  route,
  Type,
  webhookDetails,
  webhookItem,
  webhookKinds,
} from '#libs/infrastructure/contract';
import { anyId, badCursor, choiceErrors, chosen, instant, mergedPageOf, missing, page } from './filters.ts';

const root = '/api/ops/webhooks';
const receiptId = Type.Integer({ minimum: 1, maximum: 9_007_199_254_740_991, description: 'Id of a webhook.' });

const filter = {
  kind: Type.Enum([...webhookKinds], { description: 'Webhooks of this kind.' }),
  outcome: Type.String({
    minLength: 1,
    maxLength: 60,
    description: 'Webhooks with this outcome, for example `applied`.',
  }),
  person_id: anyId('Webhooks with this person id in their path.'),
  from: instant('Webhooks received at or after this time.'),
  to: instant('Webhooks received before this time.'),
  q: Type.String({
    minLength: 3,
    maxLength: 200,
    description: 'Text in the body; case-insensitive for ASCII letters.',
  }),
};

export const webhookRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listWebhooks',
    tag: 'operations',
    summary: 'List inbound webhooks',
    description: 'Bookings, meeting provider reports and messages to agents with their outcomes, newest first.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({ ...Type.Partial(Type.Object(filter)).properties, ...page }),
    handler: 'ops-webhooks',
    replies: { 200: { description: 'A page of webhooks.', schema: mergedPageOf(webhookItem) } },
    errors: badCursor,
  }),
  route({
    method: 'GET',
    path: `${root}/{receipt_id}`,
    operationId: 'getWebhook',
    tag: 'operations',
    summary: 'Read one inbound webhook',
    description:
      'With the received body and headers; secrets are replaced by `[redacted]`. The body of ignored and rejected webhooks is not stored, except for unreadable ones.',
    auth: 'ops',
    scope: 'ops:read',
    params: Type.Object({ receipt_id: receiptId }),
    handler: 'ops-webhook',
    etag: true,
    replies: { 200: { description: 'The webhook.', schema: webhookDetails } },
    errors: { not_found: { code: 'not_found', when: 'The webhook does not exist.' } },
  }),
  route({
    method: 'POST',
    path: `${root}/replay`,
    operationId: 'replayWebhooks',
    tag: 'operations',
    summary: 'Replay webhooks',
    description:
      'Processes webhooks again, selected by filter or id, oldest first. Applied webhooks do not change anything; webhooks without a stored body are skipped.',
    auth: 'ops-act',
    scope: 'ops:write',
    deadlineMs: 60_000,
    body: {
      schema: Type.Object({
        ...chosen(filter, receiptId, maxReplayed).properties,
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 2 * maxReplayed,
            description: `Maximum number of webhooks: bookings and meetings first, then messages; at most ${maxReplayed} of each. Default: no other limit.`,
          }),
        ),
      }),
    },
    handler: 'ops-replay',
    replies: {
      200: {
        description: 'The result; with `dry_run` the expected result.',
        schema: Type.Object({
          ...replayCounts,
          ...replayLists,
          more: Type.Boolean({ description: 'More webhooks match than the limits allow; the oldest were replayed.' }),
          ...missing,
        }),
      },
    },
    errors: choiceErrors,
  }),
];
