/** Receipts of messaging updates and the sends of their replies (D20, D32, D33b). */
import { type Queryable, statement, type Tx } from '#libs/orm';
import type { UpdateOutcome } from '../messaging-contract.ts';
import { type KeptBody, keepsBody } from '#libs/webhooks';

const columns = `r.id, 'telegram' as source, iso_utc(r.received_at) as received_at, r.agent_slug, r.update_id, r.kind, r.chat_id, r.outcome,
  r.message, r.deliveries, iso_utc(r.processed_at) as processed_at, r.body_digest, r.body_size`;

/** $1 outcome, $2 since, $3 until, each null for any. */
const matchingSql = `($1::text is null or r.outcome = $1)
  and ($2::timestamptz is null or r.received_at >= $2) and ($3::timestamptz is null or r.received_at < $3)`;

/** `is_new` is false for a repeated update. The same delivery, delivered again by the broker, is not counted again. */
const insertStatement = statement(
  'receipts.insert',
  `insert into agents.webhook_receipts as r
     (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, agent_id, update_id, kind, chat_id, sender_id, chat, body, body_digest,
      body_size, outcome, message, processed_at)
   values ($1, $2, $3::timestamptz, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
     case when $15 = 'pending' then null else clock_timestamp() end)
   on conflict (dedupe_key) do update
     set deliveries = r.deliveries + (r.delivery_id <> excluded.delivery_id)::integer, delivery_id = excluded.delivery_id
   returning r.id, (r.xmax = 0) as is_new`,
);
const listStatement = statement(
  'receipts.list',
  `select coalesce(json_agg(row_to_json(rows)), '[]')::text as json from (
     select ${columns} from agents.webhook_receipts r
     where ${matchingSql} order by r.received_at desc, r.id desc limit $4
   ) rows`,
);
const findReplayableStatement = statement(
  'receipts.find-replayable',
  `select r.id, r.body is not null as has_body, r.outcome = 'answered' as is_answered from agents.webhook_receipts r
   where ${matchingSql} order by r.received_at, r.id limit $4`,
);
const showStatement = statement(
  'receipts.show',
  `select ${columns}, r.body, coalesce((
     select json_agg(json_build_object('part', s.part, 'status', s.status, 'chat_id', s.chat_id, 'message_id', s.message_id, 'error', s.error,
       'updated_at', iso_utc(s.updated_at)) order by s.part)
     from agents.telegram_sends s where s.receipt_id = r.id), '[]')::text as sends
   from agents.webhook_receipts r where r.id = $1`,
);
const getStatement = statement(
  'receipts.get',
  `select id, agent_slug, agent_id, update_id, chat_id, chat, body, outcome, message, settles_as, reply_html, echo, kind,
     clock_timestamp() - stored_at > interval '24 hours' as expired
   from agents.webhook_receipts where id = $1`,
);
const nextStatement = statement(
  'receipts.next-of-chat',
  `select id, stream_sequence, clock_timestamp() - stored_at > interval '30 seconds' as waited
   from agents.webhook_receipts where chat = $1 and outcome in ('pending', 'answering') order by update_id, id limit 1`,
);
const planStatement = statement(
  'receipts.plan-reply',
  `with receipt as (
     update agents.webhook_receipts set outcome = 'answering', settles_as = $2, message = $3, reply_html = $4 where id = $1 returning id
   )
   insert into agents.telegram_sends (receipt_id, part) select receipt.id, part from receipt, generate_series(1, $5::integer) as part
   on conflict do nothing`,
);
const settleStatement = statement(
  'receipts.settle',
  `update agents.webhook_receipts set outcome = $2, message = $3, body = case when $4::boolean then body end, processed_at = clock_timestamp()
   where id = $1`,
);
const reopenStatement = statement(
  'receipts.reopen',
  `update agents.webhook_receipts set agent_id = $2, kind = $3, chat_id = $4, chat = $5, update_id = $6, sender_id = $7, outcome = $9, message = null,
     dedupe_key = $8, processed_at = null, echo = null, reply_html = null, settles_as = null,
     stored_at = clock_timestamp() where id = $1`,
);
const resumeStatement = statement(
  'receipts.resume',
  `update agents.webhook_receipts set outcome = 'answering', processed_at = null, stored_at = clock_timestamp() where id = $1`,
);
const takeEchoStatement = statement(
  'receipts.take-echo',
  `update agents.webhook_receipts set echo = 'sending' where id = $1 and echo is null returning 1`,
);
const endEchoStatement = statement(
  'receipts.end-echo',
  `update agents.webhook_receipts set echo = $2, body = case when outcome <> 'ignored' then body end,
     outcome = case when outcome = 'pending' then $3 else outcome end, message = coalesce($4, message),
     processed_at = coalesce(processed_at, clock_timestamp())
   where id = $1`,
);
const findKeyStatement = statement('receipts.find-key', `select id from agents.webhook_receipts where dedupe_key = $1`);
const countStatement = statement(
  'receipts.count',
  `select outcome, count(*) as count from agents.webhook_receipts where received_at > clock_timestamp() - interval '1 day' group by outcome`,
);
/** $1 agent, $2 chat, $3 sender; null = any. */
const eraseStatement = statement(
  'receipts.erase',
  `update agents.webhook_receipts r set body = null, reply_html = null
   where ($1::integer is null or r.agent_id = $1) and ($2::bigint is null or r.chat_id = $2) and ($3::bigint is null or r.sender_id = $3 or r.chat_id = $3)`,
);

export interface NewReceipt extends KeptBody {
  readonly dedupeKey: string;
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly streamSequence: number;
  readonly agentSlug: string;
  readonly agentId?: number | undefined;
  readonly updateId?: number | undefined;
  readonly kind?: string | undefined;
  readonly chatId?: number | undefined;
  readonly senderId?: number | undefined;
  /** Row of the chat whose queue works it. */
  readonly chat?: number | undefined;
  readonly outcome: string;
  readonly message?: string | undefined;
}

export interface ReceiptRow {
  readonly id: number;
  readonly agent_slug: string;
  readonly agent_id: number | null;
  readonly update_id: number | null;
  readonly chat_id: number | null;
  readonly chat: number | null;
  readonly kind: string | null;
  readonly body: Buffer | null;
  readonly outcome: string;
  readonly message: string | null;
  readonly settles_as: UpdateOutcome | null;
  readonly reply_html: string | null;
  readonly echo: 'sending' | 'sent' | 'failed' | null;
  /** Too old to be answered: nobody waits any more. */
  readonly expired: boolean;
}

/** What decides whether the next update of a chat may be worked. */
export interface NextReceipt {
  readonly id: number;
  readonly stream_sequence: number;
  readonly waited: boolean;
}

export async function insertReceipt(tx: Tx, receipt: NewReceipt): Promise<{ id: number; is_new: boolean }> {
  const [row] = await tx.query<{ id: number; is_new: boolean }>(insertStatement, [
    receipt.dedupeKey,
    receipt.deliveryId,
    receipt.receivedAt,
    receipt.streamSequence,
    receipt.agentSlug,
    receipt.agentId ?? null,
    receipt.updateId ?? null,
    receipt.kind ?? null,
    receipt.chatId ?? null,
    receipt.senderId ?? null,
    receipt.chat ?? null,
    receipt.body,
    receipt.digest,
    receipt.size,
    receipt.outcome,
    receipt.message ?? null,
  ]);
  return row as { id: number; is_new: boolean };
}

/** Which receipts are meant; what is undefined does not count. */
export interface ReceiptFilter {
  readonly outcome?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const valuesOf = ({ outcome, since, until }: ReceiptFilter): unknown[] => [outcome ?? null, since ?? null, until ?? null];

/** JSON text of a list. */
export async function renderReceipts(db: Queryable, filter: ReceiptFilter, limit: number): Promise<string> {
  const [row] = await db.query<{ json: string }>(listStatement, [...valuesOf(filter), limit]);
  return row?.json ?? '[]';
}

export interface ReplayableRow {
  readonly id: number;
  readonly has_body: boolean;
  /** Nothing is left to do. */
  readonly is_answered: boolean;
}

/** Oldest first. */
export async function findReplayable(db: Queryable, filter: ReceiptFilter, limit: number): Promise<ReplayableRow[]> {
  return await db.query<ReplayableRow>(findReplayableStatement, [...valuesOf(filter), limit]);
}

/** Columns as in the contract; `sends` is JSON text. */
export async function findReceiptDetails(
  db: Queryable,
  id: number,
): Promise<(Record<string, unknown> & { body: Buffer | null; sends: string }) | undefined> {
  const [row] = await db.query<Record<string, unknown> & { body: Buffer | null; sends: string }>(showStatement, [id]);
  return row;
}

export async function findReceipt(db: Queryable, id: number): Promise<ReceiptRow | undefined> {
  const [row] = await db.query<ReceiptRow>(getStatement, [id]);
  return row;
}

export async function findReceiptByKey(db: Queryable, dedupeKey: string): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(findKeyStatement, [dedupeKey]);
  return row?.id;
}

/** The first update of a chat that is not over. */
export async function findNextReceipt(db: Queryable, chat: number): Promise<NextReceipt | undefined> {
  const [row] = await db.query<NextReceipt>(nextStatement, [chat]);
  return row;
}

/** The reply is decided and will be sent in `parts`; when all are, the receipt settles as told. */
export async function planReply(
  tx: Queryable,
  receiptId: number,
  plan: { settlesAs: UpdateOutcome; message: string | null; replyHtml: string; parts: number },
): Promise<void> {
  await tx.query(planStatement, [receiptId, plan.settlesAs, plan.message, plan.replyHtml, plan.parts]);
}

/** How work on an update ends. */
export interface Settlement {
  readonly outcome: UpdateOutcome;
  readonly message?: string | null | undefined;
  /** What is still to be echoed, for which the body is needed. */
  readonly echo?: 'mirror' | 'raw' | undefined;
}

export async function settleReceipt(tx: Queryable, receiptId: number, { outcome, message, echo }: Settlement): Promise<void> {
  await tx.query(settleStatement, [receiptId, outcome, message ?? null, keepsBody(outcome) || echo !== undefined]);
}

/** Makes an update that was judged before wait again, under what it is now. */
export async function reopenReceipt(
  tx: Tx,
  id: number,
  as: {
    agentId: number;
    kind: string;
    chatId: number | undefined;
    chat: number | undefined;
    updateId: number;
    senderId: number | undefined;
    dedupeKey: string;
    outcome: string;
  },
): Promise<void> {
  const values = [id, as.agentId, as.kind, as.chatId ?? null, as.chat ?? null, as.updateId, as.senderId ?? null, as.dedupeKey, as.outcome];
  await tx.query(reopenStatement, values);
}

/** Its reply is sent on. */
export async function resumeReceipt(tx: Tx, id: number): Promise<void> {
  await tx.query(resumeStatement, [id]);
}

/** False when it was taken before: an echo is tried once. */
export async function takeEcho(db: Queryable, receiptId: number): Promise<boolean> {
  return (await db.query(takeEchoStatement, [receiptId])).length > 0;
}

/** A receipt that waited for nothing but its echo settles with it; what was ignored keeps no body (D68). */
export async function endEcho(db: Queryable, receiptId: number, sent: boolean, message: string | null): Promise<void> {
  await db.query(endEchoStatement, [receiptId, sent ? 'sent' : 'failed', sent ? 'echoed' : 'echo_failed', message]);
}

/** Receipts of the last day by outcome. */
export async function countReceipts(db: Queryable): Promise<{ outcome: string; count: number }[]> {
  return await db.query<{ outcome: string; count: number }>(countStatement);
}

/** Drops what was said from receipts; what became of the updates stays. */
export async function eraseReceipts(
  tx: Tx,
  target: { agentId?: number | undefined; chatId?: number | undefined; senderId?: number | undefined },
): Promise<void> {
  await tx.query(eraseStatement, [target.agentId ?? null, target.chatId ?? null, target.senderId ?? null]);
}
