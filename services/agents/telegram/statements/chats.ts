/** Statements on Telegram chats: job, reachability and migration. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

/** Finds or creates the chat's row and locks it, so that the chat's updates and its job change together. */
export const openChat = statement.one({
  name: 'chats.open',
  params: { agentId: t.integer, chatId: t.bigint },
  row: { id: t.bigint },
  sql: ({
    agentId,
    chatId,
  }) => sql`insert into agents.telegram_chats as c (agent_id, chat_id) values (${agentId}, ${chatId})
    on conflict (agent_id, chat_id) do update set chat_id = excluded.chat_id returning c.id`,
});

/** Limits how long this transaction waits for a row. A hanging process can lock a row for a minute. */
export const setLockTimeout = statement.none({
  name: 'chats.limit-wait',
  sql: () => sql`set local lock_timeout = '1s'`,
});

/**
 * Returns the queued or running job of the chat. Call it with the chat locked, to see the previous transaction's
 * changes.
 */
export const findChatJob = statement.maybeOne({
  name: 'chats.has-job',
  params: { chat: t.bigint },
  row: { id: t.uuid },
  sql: ({ chat }) => sql`select j.id from agents.telegram_chats c join agents.jobs j on j.id = c.job_id
    where c.id = ${chat} and j.state in ('queued', 'running')`,
});

export const setChatJob = statement.none({
  name: 'chats.set-job',
  params: { chat: t.bigint, jobId: t.uuid.nullable },
  sql: ({ chat, jobId }) => sql`update agents.telegram_chats set job_id = ${jobId} where id = ${chat}`,
});

const claimedChat = { id: t.bigint, agent_id: t.integer, chat_id: t.bigint, fence: t.bigint };
/** A chat claimed by one attempt of its job. */
export type ClaimedChat = RowOf<typeof claimedChat>;

/**
 * Starts an attempt of the chat's job and increments the fence. Returns undefined when the job is not the chat's
 * current job.
 */
export const startChatAttempt = statement.maybeOne({
  name: 'chats.begin',
  params: { chat: t.bigint, jobId: t.uuid },
  row: claimedChat,
  sql: ({
    chat,
    jobId,
  }) => sql`update agents.telegram_chats set fence = fence + 1 where id = ${chat} and job_id = ${jobId}
    returning id, agent_id, chat_id, fence`,
});

/** Locks the chat for an attempt. Returns undefined when a later attempt has claimed the chat. */
export const lockChat = statement.maybeOne({
  name: 'chats.lock',
  params: { id: t.bigint, fence: t.bigint },
  row: { id: t.bigint },
  sql: ({ id, fence }) => sql`select id from agents.telegram_chats where id = ${id} and fence = ${fence} for update`,
});

/** Returns the current chat id, following migrations to supergroups. Returns undefined for an unknown chat. */
export const findCurrentChat = statement.maybeOne({
  name: 'chats.current',
  params: { agentId: t.integer, chatId: t.bigint },
  row: { chat_id: t.bigint },
  sql: ({ agentId, chatId }) => sql`with recursive way as (
      select c.chat_id, c.migrated_to, 1 as step from agents.telegram_chats c where c.agent_id = ${agentId} and c.chat_id = ${chatId}
      union all
      select c.chat_id, c.migrated_to, way.step + 1
      from way join agents.telegram_chats c on c.agent_id = ${agentId} and c.chat_id = way.migrated_to
      where way.step < 10
    )
    select chat_id from way order by step desc limit 1`,
});

export const markBlocked = statement.none({
  name: 'chats.block',
  params: { agentId: t.integer, chatId: t.bigint, reason: t.text },
  sql: ({
    agentId,
    chatId,
    reason,
  }) => sql`update agents.telegram_chats set blocked_at = clock_timestamp(), blocked_reason = ${reason}
    where agent_id = ${agentId} and chat_id = ${chatId}`,
});

export const unmarkBlocked = statement.none({
  name: 'chats.unblock',
  params: { agentId: t.integer, chatId: t.bigint },
  sql: ({ agentId, chatId }) => sql`update agents.telegram_chats set blocked_at = null, blocked_reason = null
    where agent_id = ${agentId} and chat_id = ${chatId} and blocked_at is not null`,
});

/** Returns a waiting update of the chat. */
export const findPendingReceipt = statement.maybeOne({
  name: 'chats.waits',
  params: { agentId: t.integer, chatId: t.bigint },
  row: { id: t.bigint },
  sql: ({
    agentId,
    chatId,
  }) => sql`select r.id from agents.telegram_chats c join agents.webhook_receipts r on r.chat = c.id
    where c.agent_id = ${agentId} and c.chat_id = ${chatId} and r.outcome in ('pending', 'answering') limit 1`,
});

export const markMigrated = statement.none({
  name: 'chats.migrate',
  params: { agentId: t.integer, from: t.bigint, to: t.bigint },
  sql: ({ agentId, from, to }) => sql`insert into agents.telegram_chats (agent_id, chat_id, migrated_to)
    values (${agentId}, ${from}, ${to}), (${agentId}, ${to}, null)
    on conflict (agent_id, chat_id) do update set migrated_to = excluded.migrated_to`,
});

/** Returns the ids of a chat and of the groups that became this chat. */
export const listChatIds = statement.many({
  name: 'chats.numbers',
  params: { agentId: t.integer, chatId: t.bigint },
  row: { chat_id: t.bigint },
  sql: ({ agentId, chatId }) => sql`select ${chatId} as chat_id
    union select chat_id from agents.telegram_chats where agent_id = ${agentId} and migrated_to = ${chatId}`,
});

/**
 * Locks the private chats of an agent and user; null matches all. The id of a private chat is the id of its user, which
 * is positive.
 */
export const lockPrivateChats = statement.many({
  name: 'chats.lock-private',
  params: { agentId: t.integer.nullable, userId: t.bigint.nullable },
  row: { id: t.bigint },
  sql: ({ agentId, userId }) => sql`select c.id from agents.telegram_chats c
    where c.chat_id > 0 and (${agentId} is null or c.agent_id = ${agentId}) and (${userId} is null or c.chat_id = ${userId})
    order by c.id for update`,
});

/** Deletes chats locked by the caller, except those with waiting updates. */
export const deleteIdleChats = statement.none({
  name: 'chats.delete-idle',
  params: { ids: t.bigint.array },
  sql: ({ ids }) => sql`delete from agents.telegram_chats c where c.id = any(${ids})
    and not exists (select from agents.webhook_receipts r where r.chat = c.id and r.outcome in ('pending', 'answering'))`,
});
