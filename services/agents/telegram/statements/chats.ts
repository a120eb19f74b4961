/** Chats of the messaging platform: whose turn it is, whether the bot may write there, and where a group went. */
import { type Queryable, statement, type Tx } from '#libs/orm';
import { rekeyThread } from '../../chat/index.ts';
import { type ChatOfAgent, telegramThreadKey } from '../rules/keys.ts';

/** Locks the chat: its updates and its job change together. */
const openStatement = statement(
  'chats.open',
  `insert into agents.telegram_chats as c (agent_id, chat_id) values ($1, $2)
   on conflict (agent_id, chat_id) do update set chat_id = excluded.chat_id returning c.id`,
);
/** Asked after the lock is held, so that it sees what the holder before has written. A job that is over, be it dead, does not count. */
const hasJobStatement = statement(
  'chats.has-job',
  `select 1 from agents.telegram_chats c join agents.jobs j on j.id = c.job_id where c.id = $1 and j.state in ('queued', 'running')`,
);
const setJobStatement = statement('chats.set-job', `update agents.telegram_chats set job_id = $2 where id = $1`);
const beginStatement = statement(
  'chats.begin',
  `update agents.telegram_chats set fence = fence + 1 where id = $1 and job_id = $2 returning id, agent_id, chat_id, fence`,
);
const lockStatement = statement('chats.lock', `select 1 from agents.telegram_chats where id = $1 and fence = $2 for update`);
/** Follows a group that became a supergroup. */
const currentStatement = statement(
  'chats.current',
  `with recursive way as (
     select c.chat_id, c.migrated_to, 1 as step from agents.telegram_chats c where c.agent_id = $1 and c.chat_id = $2
     union all
     select c.chat_id, c.migrated_to, way.step + 1 from way join agents.telegram_chats c on c.agent_id = $1 and c.chat_id = way.migrated_to
     where way.step < 10
   )
   select chat_id from way order by step desc limit 1`,
);
const blockStatement = statement(
  'chats.block',
  `update agents.telegram_chats set blocked_at = clock_timestamp(), blocked_reason = $3 where agent_id = $1 and chat_id = $2`,
);
const unblockStatement = statement(
  'chats.unblock',
  `update agents.telegram_chats set blocked_at = null, blocked_reason = null where agent_id = $1 and chat_id = $2 and blocked_at is not null`,
);
const waitsStatement = statement(
  'chats.waits',
  `select 1 from agents.telegram_chats c join agents.webhook_receipts r on r.chat = c.id
   where c.agent_id = $1 and c.chat_id = $2 and r.outcome in ('pending', 'answering') limit 1`,
);
const migrateStatement = statement(
  'chats.migrate',
  `insert into agents.telegram_chats (agent_id, chat_id, migrated_to) values ($1, $2, $3), ($1, $3, null)
   on conflict (agent_id, chat_id) do update set migrated_to = excluded.migrated_to`,
);
/** A chat in the hands of one attempt of its job. */
export interface ClaimedChat {
  readonly id: number;
  readonly agent_id: number;
  readonly chat_id: number;
  readonly fence: number;
}

/** The chat's row, made when there is none and locked. */
export async function openChat(tx: Tx, agentId: number, chatId: number): Promise<number> {
  const [row] = await tx.query<{ id: number }>(openStatement, [agentId, chatId]);
  return (row as { id: number }).id;
}

/** True when a job works the chat already; ask with the chat locked. */
export async function hasJob(tx: Tx, chat: number): Promise<boolean> {
  return (await tx.query(hasJobStatement, [chat])).length > 0;
}

export async function setChatJob(tx: Tx, chat: number, jobId: string | null): Promise<void> {
  await tx.query(setJobStatement, [chat, jobId]);
}

/** Begins an attempt; undefined when the job is not the one that works the chat. */
export async function beginChat(db: Queryable, chat: number, jobId: string): Promise<ClaimedChat | undefined> {
  const [row] = await db.query<ClaimedChat>(beginStatement, [chat, jobId]);
  return row;
}

/** Locks the chat; false when a later attempt has it. */
export async function lockChat(tx: Tx, chat: ClaimedChat): Promise<boolean> {
  return (await tx.query(lockStatement, [chat.id, chat.fence])).length > 0;
}

/** The number under which the chat is reached now. */
export async function findCurrentChatId(db: Queryable, agentId: number, chatId: number): Promise<number> {
  const [row] = await db.query<{ chat_id: number }>(currentStatement, [agentId, chatId]);
  return row?.chat_id ?? chatId;
}

export async function markBlocked(db: Queryable, agentId: number, chatId: number, reason: string): Promise<void> {
  await db.query(blockStatement, [agentId, chatId, reason]);
}

export async function unmarkBlocked(db: Queryable, agentId: number, chatId: number): Promise<void> {
  await db.query(unblockStatement, [agentId, chatId]);
}

/** True while updates of the chat wait. */
export async function hasWaiting(db: Queryable, agentId: number, chatId: number): Promise<boolean> {
  return (await db.query(waitsStatement, [agentId, chatId])).length > 0;
}

/**
 * The group `from` has become the supergroup `to`: its thread goes on under the new number (D32). Done twice it is done once. Whether the
 * two may be one is asked before (`isMigration`).
 */
export async function migrateChat(tx: Tx, agentId: number, from: number, to: number): Promise<void> {
  await tx.query(migrateStatement, [agentId, from, to]);
  await rekeyThread(tx, agentId, telegramThreadKey(from, agentId), telegramThreadKey(to, agentId));
}

const numbersStatement = statement(
  'chats.numbers',
  `select $2::bigint as chat_id union select chat_id from agents.telegram_chats where agent_id = $1 and migrated_to = $2`,
);

/** The number of the chat, and that of the group that became it. */
export async function listNumbersOfChat(db: Queryable, { agentId, chatId }: ChatOfAgent): Promise<number[]> {
  const rows = await db.query<{ chat_id: number }>(numbersStatement, [agentId, chatId]);
  return rows.map((row) => row.chat_id);
}
