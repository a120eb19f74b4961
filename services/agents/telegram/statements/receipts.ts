/** Receipts of messaging updates and the sends of their replies (D20, D32, D33b). */
import { type Queryable, statement, type Tx } from '#libs/orm';
import type { UpdateOutcome } from '../../receipts/contract.ts';
import { type KeptBody, keepsBody } from '#libs/webhooks';

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

export async function findReceipt(db: Queryable, id: number): Promise<ReceiptRow | undefined> {
  const [row] = await db.query<ReceiptRow>(getStatement, [id]);
  return row;
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

/** False when it was taken before: an echo is tried once. */
export async function takeEcho(db: Queryable, receiptId: number): Promise<boolean> {
  return (await db.query(takeEchoStatement, [receiptId])).length > 0;
}

/** A receipt that waited for nothing but its echo settles with it; what was ignored keeps no body (D68). */
export async function endEcho(db: Queryable, receiptId: number, sent: boolean, message: string | null): Promise<void> {
  await db.query(endEchoStatement, [receiptId, sent ? 'sent' : 'failed', sent ? 'echoed' : 'echo_failed', message]);
}

/** Drops what was said from receipts; what became of the updates stays. */
export async function eraseReceipts(
  tx: Tx,
  target: { agentId?: number | undefined; chatId?: number | undefined; senderId?: number | undefined },
): Promise<void> {
  await tx.query(eraseStatement, [target.agentId ?? null, target.chatId ?? null, target.senderId ?? null]);
}
