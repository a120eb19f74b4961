/** Statements on receipts of messaging updates: search, replay, retention (D20, D33b). */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { declareDropContents, declareReceiptSearch } from '#libs/product/webhooks';

export const findReceiptByKey = statement.maybeOne({
  name: 'receipts.find-key',
  params: { dedupeKey: t.text },
  row: { id: t.bigint },
  sql: ({ dedupeKey }) => sql`select id from agents.webhook_receipts where dedupe_key = ${dedupeKey}`,
});

/** Sets a processed update back to waiting and updates the columns that are read from its body. */
export const reopenReceipt = statement.none({
  name: 'receipts.reopen',
  params: {
    id: t.bigint,
    agentId: t.integer,
    kind: t.text,
    chatId: t.bigint.nullable,
    chat: t.bigint.nullable,
    updateId: t.bigint,
    senderId: t.bigint.nullable,
    dedupeKey: t.text,
    outcome: t.text,
  },
  sql: ({
    id,
    agentId,
    kind,
    chatId,
    chat,
    updateId,
    senderId,
    dedupeKey,
    outcome,
  }) => sql`update agents.webhook_receipts
    set agent_id = ${agentId}, kind = ${kind}, chat_id = ${chatId}, chat = ${chat}, update_id = ${updateId}, sender_id = ${senderId},
      outcome = ${outcome}, message = null, dedupe_key = ${dedupeKey}, processed_at = null, echo = null, reply_html = null, settles_as = null,
      secret_digest = null, stored_at = clock_timestamp()
    where id = ${id}`,
});

/** Rejects an update that was stored before it could be verified. */
export const rejectReceipt = statement.none({
  name: 'receipts.reject',
  params: { id: t.bigint, agentId: t.integer, outcome: t.text, message: t.text, maxStoredBytes: t.integer },
  sql: ({ id, agentId, outcome, message, maxStoredBytes }) => sql`update agents.webhook_receipts
    set agent_id = ${agentId}, outcome = ${outcome}, message = ${message}, secret_digest = null, processed_at = clock_timestamp(),
      body = case when octet_length(body) <= ${maxStoredBytes} then body end
    where id = ${id}`,
});

/** Sets an update back to answering, so that the reply is sent further. */
export const resumeReceipt = statement.none({
  name: 'receipts.resume',
  params: { id: t.bigint },
  sql: ({
    id,
  }) => sql`update agents.webhook_receipts set outcome = 'answering', processed_at = null, stored_at = clock_timestamp()
    where id = ${id}`,
});

/** Counts the receipts of the last hour and day by outcome. */
export const countReceipts = statement.many({
  name: 'receipts.count',
  row: { outcome: t.text, last_hour: t.bigint, last_day: t.bigint },
  sql: () => sql`select outcome, count(*) filter (where received_at > statement_timestamp() - interval '1 hour') as last_hour, count(*) as last_day
    from agents.webhook_receipts
    where received_at > statement_timestamp() - interval '1 day' group by outcome`,
});

/** Search over receipts for operators (P4). */
export const receiptSearch = declareReceiptSearch({
  schema: 'agents',
  hasSource: false,
  kind: 'telegram',
  item: sql`json_build_object('id', r.id, 'kind', 'telegram', 'received_at', agents.iso_utc(r.received_at), 'outcome', r.outcome,
    'message', r.message, 'event', r.kind, 'person_id', null, 'agent_slug', r.agent_slug, 'conversation_id', null, 'update_id', r.update_id, 'chat_id', r.chat_id,
    'reconciled', false, 'deliveries', r.deliveries,
    'processed_at', agents.iso_utc(r.processed_at), 'body_digest', r.body_digest, 'body_size', r.body_size)`,
  sends: sql`select json_agg(json_build_object('part', s.part, 'status', s.status, 'chat_id', s.chat_id, 'message_id', s.message_id,
      'error', s.error, 'updated_at', agents.iso_utc(s.updated_at)) order by s.part)
    from agents.telegram_sends s where s.receipt_id = r.id`,
});

/** Deletes the contents of receipts after the retention period. */
export const dropOldContents = declareDropContents(['body', 'reply_html']);
