/** Whether a person has a thread. While one has, the agent says nothing (H1). */
import { sql, statement, t } from '#libs/sql';

/** Undefined while the agent answers; `accountId` null = whoever uses the admin CLI. */
export const findTakeover = statement.maybeOne({
  name: 'takeovers.find',
  params: { threadId: t.bigint },
  row: { accountId: t.integer.nullable, takenAt: t.text },
  sql: ({ threadId }) => sql`select account_id as "accountId", agents.iso_utc(taken_at) as "takenAt" from agents.thread_takeovers
    where thread_id = ${threadId} and ended_at is null`,
});

/** Whoever takes a thread and whoever records a turn of it hold its row: neither overlooks the other. Undefined when it is gone. */
export const lockThread = statement.maybeOne({
  name: 'takeovers.lock-thread',
  params: { threadId: t.bigint },
  row: { id: t.bigint },
  sql: ({ threadId }) => sql`select id from agents.threads where id = ${threadId} for update`,
});

export const findTakeoverByKey = statement.one({
  name: 'takeovers.of-key',
  params: { agentId: t.integer, threadKey: t.text },
  row: { taken: t.boolean },
  sql: ({ agentId, threadKey }) => sql`select exists (
      select from agents.threads t join agents.thread_takeovers o on o.thread_id = t.id and o.ended_at is null
      where t.agent_id = ${agentId} and t.thread_key = ${threadKey}
    ) as taken`,
});
