/** Parts of replies on their way (D33b). Every write names the fence of the attempt that makes it: an older attempt writes nothing. */
import { type Queryable, statement, type Tx } from '#libs/orm';

export type SendStatus = 'planned' | 'sending' | 'sent' | 'unknown' | 'refused' | 'blocked' | 'given_up';

export interface SendRow {
  readonly part: number;
  readonly status: SendStatus;
  readonly plain: boolean;
  readonly bare: boolean;
}

const listStatement = statement(
  'sends.list',
  `select part, status, plain, bare from agents.telegram_sends where receipt_id = $1 order by part`,
);
/** What an attempt that died left as `sending` may have arrived. */
const orphansStatement = statement(
  'sends.mark-orphans',
  `update agents.telegram_sends set status = 'unknown', error = 'The process ended while it was sent.', updated_at = clock_timestamp()
   where receipt_id = $1 and status = 'sending'`,
);
const writeStatement = statement(
  'sends.write',
  `update agents.telegram_sends s
   set status = $5, chat_id = coalesce($6, s.chat_id), message_id = $7, error = $8, plain = s.plain or $9, bare = s.bare or $10,
     updated_at = clock_timestamp()
   from agents.telegram_chats c
   where c.id = $1 and c.fence = $2 and s.receipt_id = $3 and s.part = $4 returning 1`,
);
const repeatStatement = statement(
  'sends.repeat',
  `update agents.telegram_sends set status = 'planned', updated_at = clock_timestamp()
   where receipt_id = $1 and status in ('unknown', 'refused', 'blocked', 'given_up') returning 1`,
);
const clearStatement = statement('sends.clear', `delete from agents.telegram_sends where receipt_id = $1`);

export interface SendChange {
  readonly status: SendStatus;
  readonly chatId?: number | undefined;
  readonly messageId?: number | undefined;
  readonly error?: string | undefined;
  readonly plain?: true;
  readonly bare?: true;
}

export async function listSends(db: Queryable, receiptId: number): Promise<SendRow[]> {
  return await db.query<SendRow>(listStatement, [receiptId]);
}

export async function markOrphans(db: Queryable, receiptId: number): Promise<void> {
  await db.query(orphansStatement, [receiptId]);
}

/** False when a later attempt has the chat: nothing was written and nothing may be sent. */
export async function writeSend(
  db: Queryable,
  at: { chat: number; fence: number; receiptId: number; part: number },
  change: SendChange,
): Promise<boolean> {
  const { status, chatId = null, messageId = null, error = null, plain = false, bare = false } = change;
  const rows = await db.query(writeStatement, [at.chat, at.fence, at.receiptId, at.part, status, chatId, messageId, error, plain, bare]);
  return rows.length > 0;
}

/** An operator has looked: whatever did not surely arrive is sent again. @returns whether there is such a part */
export async function repeatSends(tx: Tx, receiptId: number): Promise<boolean> {
  return (await tx.query(repeatStatement, [receiptId])).length > 0;
}

export async function clearSends(tx: Tx, receiptId: number): Promise<void> {
  await tx.query(clearStatement, [receiptId]);
}
