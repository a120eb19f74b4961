/** Receipts of messaging updates, as operators list, read and replay them (D20, D33b). */
import { type Queryable, statement, type Tx } from '#libs/orm';

const columns = `r.id, 'telegram' as source, iso_utc(r.received_at) as received_at, r.agent_slug, r.update_id, r.kind, r.chat_id, r.outcome,
  r.message, r.deliveries, iso_utc(r.processed_at) as processed_at, r.body_digest, r.body_size`;

/** $1 outcome, $2 since, $3 until, each null for any. */
const matchingSql = `($1::text is null or r.outcome = $1)
  and ($2::timestamptz is null or r.received_at >= $2) and ($3::timestamptz is null or r.received_at < $3)`;

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
const findKeyStatement = statement('receipts.find-key', `select id from agents.webhook_receipts where dedupe_key = $1`);
const countStatement = statement(
  'receipts.count',
  `select outcome, count(*) as count from agents.webhook_receipts where received_at > clock_timestamp() - interval '1 day' group by outcome`,
);

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

export async function findReceiptByKey(db: Queryable, dedupeKey: string): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(findKeyStatement, [dedupeKey]);
  return row?.id;
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

/** Receipts of the last day by outcome. */
export async function countReceipts(db: Queryable): Promise<{ outcome: string; count: number }[]> {
  return await db.query<{ outcome: string; count: number }>(countStatement);
}
