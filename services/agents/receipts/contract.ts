/** Operations on receipts of messaging updates, for the admin CLI (D20, D33b). */
import {
  byOperators,
  nullable,
  receiptFilter,
  receiptList,
  receiptReplay,
  receiptReplayResult,
  rpc,
  type Static,
  Type,
} from '#libs/contract';

/** First receipt id of this service, so that ids are unique across services. */
export const firstUpdateReceiptId = 1_000_000_001;

export const updateOutcomes = [
  'pending',
  'answering',
  'answered',
  'not_answered',
  'left_to_person',
  'send_unknown',
  'send_refused',
  'blocked',
  'expired',
  'failed',
  'echoed',
  'echo_failed',
  'ignored',
  'migrated',
  'agent_not_found',
  'rejected_secret',
  'rejected_too_large',
  'rejected_unreadable',
  'rejected_unsigned',
] as const;
export type UpdateOutcome = (typeof updateOutcomes)[number];

const updateFilter = receiptFilter(updateOutcomes);

const updateReceipt = Type.Object({
  id: Type.Integer(),
  source: Type.Literal('telegram'),
  received_at: Type.String({ format: 'date-time' }),
  agent_slug: Type.String({ description: 'Agent slug from the path.' }),
  update_id: nullable(Type.Integer()),
  kind: nullable(Type.String({ description: 'Kind of the update, e.g. `message`.' })),
  chat_id: nullable(Type.Integer()),
  outcome: Type.String({
    description:
      'pending, answering, answered, not_answered (the model failed and the chat was notified), left_to_person (an operator has taken the thread), send_unknown (a send may have arrived: ' +
      'review it), send_refused, blocked, expired, failed, echoed, echo_failed, ignored, migrated, rejected_unsigned, rejected_secret, ' +
      'rejected_unreadable, rejected_too_large, agent_not_found.',
  }),
  message: nullable(Type.String({ description: 'Details of the outcome.' })),
  deliveries: Type.Integer(),
  processed_at: nullable(Type.String({ format: 'date-time' })),
  body_digest: nullable(
    Type.String({ description: 'SHA-256 of the received body in hex; null if it was too large to read.' }),
  ),
  body_size: nullable(
    Type.Integer({ minimum: 0, description: 'Size of the received body in bytes; null if it was too large to read.' }),
  ),
});
export type UpdateReceipt = Static<typeof updateReceipt>;

const send = Type.Object({
  part: Type.Integer({ description: '1 for the first part of the reply.' }),
  status: Type.String({ description: 'planned, sending, sent, unknown, refused, blocked or given_up.' }),
  chat_id: nullable(Type.Integer({ description: 'Chat of the last attempt.' })),
  message_id: nullable(Type.Integer({ description: 'Telegram id of the sent message.' })),
  error: nullable(Type.String()),
  updated_at: Type.String({ format: 'date-time' }),
});

const receiptId = Type.Object({ id: Type.Integer() });

export const receiptRpcs = {
  listReceipts: rpc({
    subject: 'admin.agents.receipts.list',
    callers: byOperators,
    summary: 'Receipts of messaging updates, newest first.',
    request: receiptList(updateFilter),
    reply: Type.Object({ items: Type.Array(updateReceipt) }),
  }),
  showReceipt: rpc({
    subject: 'admin.agents.receipts.show',
    callers: byOperators,
    summary: 'One receipt with its update and the sends of its reply. 404 if it does not exist.',
    request: receiptId,
    reply: Type.Object({
      ...updateReceipt.properties,
      headers: Type.Record(Type.String(), Type.String(), { description: 'Stored headers; never the secret.' }),
      body: nullable(
        Type.String({
          description:
            'The received update; null if it was ignored, was rejected for another reason than being unreadable, is too old, or was erased.',
        }),
      ),
      sends: Type.Array(send),
    }),
  }),
  replayReceipt: rpc({
    subject: 'admin.agents.receipts.replay',
    callers: byOperators,
    audit: 'webhook.replay',
    summary:
      'Processes an update again. Answered updates are not answered again; sends of unknown outcome are repeated and may arrive twice. 404 if it does not exist.',
    request: receiptId,
    reply: Type.Object({
      id: Type.Integer(),
      job_id: nullable(Type.String({ description: 'Null if nothing is left to do.' })),
    }),
    errors: {
      receipt_without_body: { code: 'conflict', when: 'The update was not stored and cannot be replayed.' },
      agent_not_found: { code: 'not_found', when: 'No agent has the slug.' },
      agent_without_secret: { code: 'conflict', when: 'The agent has no webhook secret to verify the update with.' },
    },
  }),
  replayReceipts: rpc({
    subject: 'admin.agents.receipts.replay-many',
    callers: byOperators,
    audit: 'webhook.replay',
    summary: 'Processes all matching updates again, oldest first.',
    request: receiptReplay(updateFilter),
    reply: Type.Object({
      ...receiptReplayResult.properties,
      no_agent: Type.Integer({ description: 'Updates whose agent does not exist or has no webhook secret.' }),
    }),
    timeoutMs: 120_000,
  }),
};
