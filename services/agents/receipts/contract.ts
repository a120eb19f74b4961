/** Receipts of messaging updates, for the admin CLI (D20, D33b). */
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

/** Receipts of messaging updates are numbered from here, so that one number names one receipt of any service. */
export const firstUpdateReceiptId = 1_000_000_001;

/** Every outcome of an update. */
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
  agent_slug: Type.String({ description: "The path's agent as it was written." }),
  update_id: nullable(Type.Integer()),
  kind: nullable(Type.String({ description: 'Field of the update that is set, e.g. `message`.' })),
  chat_id: nullable(Type.Integer()),
  outcome: Type.String({
    description:
      'pending, answering, answered, not_answered (the model failed and the chat was told), left_to_person (an operator has the thread), send_unknown (a send may or may not have arrived: ' +
      'review it), send_refused, blocked, expired, failed, echoed, echo_failed, ignored, migrated, rejected_unsigned, rejected_secret, ' +
      'rejected_unreadable, rejected_too_large, agent_not_found.',
  }),
  message: nullable(Type.String({ description: 'More about the outcome.' })),
  deliveries: Type.Integer(),
  processed_at: nullable(Type.String({ format: 'date-time' })),
  body_digest: nullable(Type.String({ description: 'SHA-256 of the body as it came, in hex; null when it was too large to be read.' })),
  body_size: nullable(Type.Integer({ minimum: 0, description: 'Bytes of the body as it came; null when it was too large to be read.' })),
});
export type UpdateReceipt = Static<typeof updateReceipt>;

const send = Type.Object({
  part: Type.Integer({ description: '1 for the first part of the reply.' }),
  status: Type.String({ description: 'planned, sending, sent, unknown, refused, blocked or given_up.' }),
  chat_id: nullable(Type.Integer({ description: 'Where it was sent last.' })),
  message_id: nullable(Type.Integer({ description: "Telegram's number of the sent message." })),
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
    summary: 'One receipt with its update and the sends of its reply. 404 when absent.',
    request: receiptId,
    reply: Type.Object({
      ...updateReceipt.properties,
      headers: Type.Record(Type.String(), Type.String(), { description: 'Those that were kept; never the secret.' }),
      body: nullable(
        Type.String({
          description:
            'The update as it came; null when it was ignored or rejected for another reason than being unreadable, is too old, or was forgotten.',
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
      'Works an update again. An answered one is not answered again; a send of unknown outcome is repeated, which may show it twice. 404 when absent.',
    request: receiptId,
    reply: Type.Object({ id: Type.Integer(), job_id: nullable(Type.String({ description: 'Null when there is nothing left to do.' })) }),
    errors: {
      receipt_without_body: { code: 'conflict', when: 'The update was not kept, so that there is nothing to replay.' },
      agent_not_found: { code: 'not_found', when: 'Still no agent has the slug.' },
      agent_without_secret: { code: 'conflict', when: 'The agent has no webhook secret yet by which the update could be judged.' },
    },
  }),
  replayReceipts: rpc({
    subject: 'admin.agents.receipts.replay-many',
    callers: byOperators,
    audit: 'webhook.replay',
    summary: 'Works the updates again that match, oldest first; each as by itself.',
    request: receiptReplay(updateFilter),
    reply: Type.Object({
      ...receiptReplayResult.properties,
      no_agent: Type.Integer({ description: 'Those whose agent does not exist, or has no secret yet to judge them by.' }),
    }),
    timeoutMs: 120_000,
  }),
};
