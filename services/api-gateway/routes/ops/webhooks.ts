/** Inbound webhooks of all services (P4). */
import { maxReplayed, route, Type, webhookDetails, webhookItem, webhookKinds } from '#libs/contract';
import { anyId, badCursor, choiceErrors, chosen, instant, mergedPageOf, missing, page } from './filters.ts';

const root = '/api/ops/webhooks';
const receiptId = Type.Integer({ minimum: 1, maximum: 9_007_199_254_740_991, description: 'Id of a webhook.' });

const filter = {
  kind: Type.Enum([...webhookKinds], { description: 'Webhooks of this kind.' }),
  outcome: Type.String({ minLength: 1, maxLength: 60, description: 'Webhooks with this outcome, for example `applied`.' }),
  person_id: anyId('Webhooks whose path names the person.'),
  from: instant('Webhooks that came then or later.'),
  to: instant('Webhooks that came before.'),
  q: Type.String({ minLength: 3, maxLength: 200, description: 'Text in the body; the case of letters of ASCII does not matter.' }),
};

export const webhookRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listWebhooks',
    tag: 'operations',
    summary: 'List inbound webhooks',
    description: 'Bookings, reports of the meeting provider and messages to agents, newest first, and what became of them.',
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
      'With body and headers as they came; secrets are replaced by `[redacted]`. No body is kept of what was ignored, or rejected for another reason than being unreadable.',
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
    summary: 'Work webhooks again',
    description:
      'Those named, or those that match, oldest first. What was applied changes nothing when it is applied again; where the body is not kept nothing is done.',
    auth: 'ops-act',
    scope: 'ops:write',
    deadlineMs: 60_000,
    body: { schema: chosen(filter, receiptId, maxReplayed) },
    handler: 'ops-replay',
    replies: {
      200: {
        description: 'What was done, or with `dry_run` would be.',
        schema: Type.Object({
          matched: Type.Integer({ description: 'Webhooks that can be worked again.' }),
          changed: Type.Integer({ description: 'Those that are worked again; 0 in a dry run.' }),
          failed: Type.Integer({
            description: 'Ids without a webhook, and messages whose agent does not exist or has no secret to judge them by.',
          }),
          without_body: Type.Integer({ description: 'Those that match and whose body is not kept.' }),
          more: Type.Boolean({ description: `More than ${maxReplayed} of a kind match: the oldest were taken.` }),
          items: Type.Array(webhookItem, { description: 'The first hundred that can be worked again, oldest first.' }),
          ...missing,
        }),
      },
    },
    errors: choiceErrors,
  }),
];
