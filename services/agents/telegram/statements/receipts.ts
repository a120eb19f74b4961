/** Statements on receipts of messaging updates during processing (D20, D32, D33b). */
import { type ParamsOf, type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import type { UpdateOutcome } from '../../receipts/contract.ts';

const newReceipt = {
  dedupeKey: t.text,
  deliveryId: t.text,
  receivedAt: t.instant,
  streamSequence: t.bigint,
  agentSlug: t.text,
  agentId: t.integer.nullable,
  updateId: t.bigint.nullable,
  kind: t.text.nullable,
  chatId: t.bigint.nullable,
  senderId: t.bigint.nullable,
  /** Row of the chat whose queue processes the update. */
  chat: t.bigint.nullable,
  headers: t.json,
  body: t.bytes.nullable,
  digest: t.text.nullable,
  size: t.integer.nullable,
  /** Set for an update that is verified later, in the format of `encodeSecretDigest`. */
  secretDigest: t.text.nullable,
  outcome: t.text,
  message: t.text.nullable,
};
export type NewReceipt = ParamsOf<typeof newReceipt>;

/**
 * Inserts a receipt. `is_new` is false for a repeated update. A redelivery by the broker is not counted as a
 * repetition.
 */
export const insertReceipt = statement.one({
  name: 'receipts.insert',
  params: newReceipt,
  row: { id: t.bigint, is_new: t.boolean },
  sql: (receipt) => sql`insert into agents.webhook_receipts as r
      (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, agent_id, update_id, kind, chat_id, sender_id, chat, headers,
       body, body_digest, body_size, secret_digest, outcome, message, processed_at)
    values (${receipt.dedupeKey}, ${receipt.deliveryId}, ${receipt.receivedAt}, ${receipt.streamSequence}, ${receipt.agentSlug},
      ${receipt.agentId}, ${receipt.updateId}, ${receipt.kind}, ${receipt.chatId}, ${receipt.senderId}, ${receipt.chat}, ${receipt.headers},
      ${receipt.body}, ${receipt.digest}, ${receipt.size}, ${receipt.secretDigest}, ${receipt.outcome}, ${receipt.message},
      case when ${receipt.outcome} = 'pending' then null else clock_timestamp() end)
    on conflict (dedupe_key) do update
      set deliveries = r.deliveries + (r.delivery_id <> excluded.delivery_id)::integer, delivery_id = excluded.delivery_id
    returning r.id, (r.xmax = 0) as is_new`,
});

const columns = {
  id: t.bigint,
  agent_slug: t.text,
  agent_id: t.integer.nullable,
  update_id: t.bigint.nullable,
  chat_id: t.bigint.nullable,
  chat: t.bigint.nullable,
  kind: t.text.nullable,
  body: t.bytes.as<Buffer>().nullable,
  secret_digest: t.text.nullable,
  outcome: t.text,
  message: t.text.nullable,
  settles_as: t.text.as<UpdateOutcome>().nullable,
  reply_html: t.text.nullable,
  echo: t.text.as<'sending' | 'sent' | 'failed'>().nullable,
  /** Whether the update is too old to be answered. */
  expired: t.boolean,
};
export type ReceiptRow = RowOf<typeof columns>;

export const findReceipt = statement.maybeOne({
  name: 'receipts.get',
  params: { id: t.bigint },
  row: columns,
  sql: ({
    id,
  }) => sql`select id, agent_slug, agent_id, update_id, chat_id, chat, body, secret_digest, outcome, message, settles_as, reply_html, echo, kind,
      clock_timestamp() - stored_at > interval '24 hours' as expired
    from agents.webhook_receipts where id = ${id}`,
});

/** Returns the first unfinished update of a chat. */
export const findNextReceipt = statement.maybeOne({
  name: 'receipts.next-of-chat',
  params: { chat: t.bigint },
  row: { id: t.bigint, stream_sequence: t.bigint, answering: t.boolean, waited: t.boolean },
  sql: ({
    chat,
  }) => sql`select id, stream_sequence, outcome = 'answering' as answering, clock_timestamp() - stored_at > interval '30 seconds' as waited
    from agents.webhook_receipts where chat = ${chat} and outcome in ('pending', 'answering') order by update_id, id limit 1`,
});

/** Returns the last message of the chat stored before the operator's message `messageId`. */
export const findPrecedingMessage = statement.maybeOne({
  name: 'receipts.before-words',
  params: { chat: t.bigint, messageId: t.bigint },
  row: { body: t.bytes.as<Buffer>() },
  sql: ({ chat, messageId }) => sql`select r.body from agents.telegram_chats c
    join agents.webhook_receipts r on r.chat_id = c.chat_id and r.chat = c.id
    join agents.messages m on m.id = ${messageId} and r.stored_at < m.created_at
    where c.id = ${chat} and r.body is not null order by r.update_id desc, r.id desc limit 1`,
});

/** Stores the reply and its planned parts. Once all parts are sent, `settlesAs` becomes the outcome. */
export const planReply = statement.none({
  name: 'receipts.plan-reply',
  params: {
    id: t.bigint,
    settlesAs: t.text.as<UpdateOutcome>(),
    message: t.text.nullable,
    replyHtml: t.text,
    parts: t.integer,
  },
  sql: ({ id, settlesAs, message, replyHtml, parts }) => sql`with receipt as (
      update agents.webhook_receipts set outcome = 'answering', settles_as = ${settlesAs}, message = ${message}, reply_html = ${replyHtml}
      where id = ${id} returning id
    )
    insert into agents.telegram_sends (receipt_id, part) select receipt.id, part from receipt, generate_series(1, ${parts}) as part
    on conflict do nothing`,
});

/** Outcome of processing an update. */
export interface Settlement {
  readonly outcome: UpdateOutcome;
  readonly message?: string | null | undefined;
  /** Echo that remains to be sent; it needs the body of the update. */
  readonly echo?: 'mirror' | 'raw' | undefined;
}

export const settleReceipt = statement.none({
  name: 'receipts.settle',
  params: { id: t.bigint, outcome: t.text.as<UpdateOutcome>(), message: t.text.nullable, maxStoredBytes: t.integer },
  sql: ({ id, outcome, message, maxStoredBytes }) => sql`update agents.webhook_receipts
    set outcome = ${outcome}, message = ${message}, body = case when octet_length(body) <= ${maxStoredBytes} then body end, processed_at = clock_timestamp()
    where id = ${id}`,
});

/** Claims the echo of an update. Returns undefined when it was claimed before: an echo is attempted only once. */
export const claimEcho = statement.maybeOne({
  name: 'receipts.take-echo',
  params: { id: t.bigint },
  row: { id: t.bigint },
  sql: ({ id }) =>
    sql`update agents.webhook_receipts set echo = 'sending' where id = ${id} and echo is null returning id`,
});

/**
 * Finishes an echo and settles receipts that waited only for their echo. The body of ignored updates is deleted (D68).
 */
export const finishEcho = statement.none({
  name: 'receipts.end-echo',
  params: { id: t.bigint, sent: t.boolean, message: t.text.nullable },
  sql: ({ id, sent, message }) => sql`update agents.webhook_receipts
    set echo = case when ${sent} then 'sent' else 'failed' end, body = case when outcome <> 'ignored' then body end,
      outcome = case when outcome <> 'pending' then outcome when ${sent} then 'echoed' else 'echo_failed' end,
      message = coalesce(${message}, message), processed_at = coalesce(processed_at, clock_timestamp())
    where id = ${id}`,
});

/** Erases contents and people from receipts. A null filter matches all. Outcomes remain. */
export const eraseReceipts = statement.none({
  name: 'receipts.erase',
  params: { agentId: t.integer.nullable, chatId: t.bigint.nullable, senderId: t.bigint.nullable },
  sql: ({ agentId, chatId, senderId }) => sql`with erased as (
      update agents.webhook_receipts r
      set body = null, reply_html = null, sender_id = null, chat_id = case when r.chat_id < 0 then r.chat_id end
      where (${agentId} is null or r.agent_id = ${agentId}) and (${chatId} is null or r.chat_id = ${chatId})
        and (${senderId} is null or r.sender_id = ${senderId} or r.chat_id = ${senderId})
      returning r.id
    )
    update agents.telegram_sends s set chat_id = null from erased where s.receipt_id = erased.id and s.chat_id > 0`,
});
