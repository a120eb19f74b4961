/** Statements on threads, takeovers and messages of operators (H1 to H5). */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

const threadColumns = {
  id: t.bigint,
  agent: t.text,
  agentId: t.integer,
  channel: t.text.as<'web' | 'telegram'>(),
  threadKey: t.text,
  turns: t.integer,
  waiting: t.boolean,
  createdAt: t.text,
  updatedAt: t.text,
  isTaken: t.boolean,
  accountId: t.integer.nullable,
  takenAt: t.text.nullable,
};
export type ThreadRow = RowOf<typeof threadColumns>;

const threads = (
  from: Sql,
): Sql => sql`select t.id, a.slug as agent, a.id as "agentId", t.channel, t.thread_key as "threadKey", t.turn_count as turns,
    coalesce((
      select m.note_type = 'chat_visitor' from agents.messages m where m.thread_id = t.id order by m.turn desc, m.note_type limit 1
    ), false) as waiting,
    agents.iso_utc(t.created_at) as "createdAt", agents.iso_utc(t.updated_at) as "updatedAt",
    o.id is not null as "isTaken", o.account_id as "accountId", agents.iso_utc(o.taken_at) as "takenAt"
  from ${from} t join agents.agents a on a.id = t.agent_id
  left join agents.thread_takeovers o on o.thread_id = t.id and o.ended_at is null`;

/** Returns the threads with a recorded turn, most recently active first. A null filter matches all. */
export const listThreads = statement.many({
  name: 'handover.list',
  planned: 'each-call',
  params: {
    agentId: t.integer.nullable,
    channel: t.text.nullable,
    taken: t.boolean.nullable,
    beforeAt: t.instant.nullable,
    beforeId: t.bigint.nullable,
    limit: t.integer,
  },
  row: threadColumns,
  sql: ({ agentId, channel, taken, beforeAt, beforeId, limit }) =>
    sql`${threads(sql`(
      select * from agents.threads th
      where th.turn_count > 0 and (${agentId} is null or th.agent_id = ${agentId}) and (${channel} is null or th.channel = ${channel})
        and (${beforeId} is null or (th.updated_at, th.id) < (${beforeAt}, ${beforeId}))
        and (${taken} is not true or th.id in (select thread_id from agents.thread_takeovers where ended_at is null))
        and (${taken} is not false or not exists (
          select from agents.thread_takeovers open where open.thread_id = th.id and open.ended_at is null))
      order by th.updated_at desc, th.id desc limit ${limit}
    )`)} order by t.updated_at desc, t.id desc`,
});

export const findThread = statement.maybeOne({
  name: 'handover.find',
  params: { threadId: t.bigint },
  row: threadColumns,
  sql: ({ threadId }) => sql`${threads(sql`agents.threads`)} where t.id = ${threadId} and t.turn_count > 0`,
});

const messageColumns = {
  turn: t.integer,
  noteType: t.text.as<'chat_visitor' | 'chat_agent' | 'chat_operator'>(),
  body: t.text,
  html: t.text,
  createdAt: t.text,
  accountId: t.integer.nullable,
  delivery: t.text.as<'waiting' | 'sent' | 'unknown' | 'failed'>().nullable,
};
export type MessageRow = RowOf<typeof messageColumns>;

const messages = sql`select m.turn, m.note_type as "noteType", m.body, m.html, agents.iso_utc(m.created_at) as "createdAt",
    m.account_id as "accountId", case when m.note_type = 'chat_operator' then (
      select case
        when bool_or(s.status = 'unknown') then 'unknown'
        when bool_or(s.status in ('refused', 'blocked', 'given_up')) then 'failed'
        when bool_or(s.status in ('planned', 'sending')) then 'waiting'
        when count(*) > 0 then 'sent' end
      from agents.operator_sends s where s.message_id = m.id) end as delivery
  from agents.messages m`;

/** Returns the messages of a thread, newest turn first; within a turn the visitor's message is last. */
export const listMessages = statement.many({
  name: 'handover.messages',
  params: { threadId: t.bigint, before: t.integer.nullable, limit: t.integer },
  row: messageColumns,
  sql: ({ threadId, before, limit }) => sql`${messages}
    where m.thread_id = ${threadId} and (${before} is null or m.turn < ${before}) order by m.turn desc, m.note_type limit ${limit}`,
});

/** Inserts a takeover. A unique index allows one open takeover per thread. */
export const insertTakeover = statement.none({
  name: 'handover.take',
  params: { threadId: t.bigint, accountId: t.integer.nullable },
  sql: ({ threadId, accountId }) =>
    sql`insert into agents.thread_takeovers (thread_id, account_id) values (${threadId}, ${accountId})`,
});

/** Ends the open takeover. Returns undefined when the thread has none. */
export const endTakeover = statement.maybeOne({
  name: 'handover.end',
  params: { threadId: t.bigint },
  row: { id: t.bigint },
  sql: ({ threadId }) => sql`update agents.thread_takeovers set ended_at = clock_timestamp()
    where thread_id = ${threadId} and ended_at is null returning id`,
});

export const recordOperatorMessage = statement.one({
  name: 'handover.say',
  params: { threadId: t.bigint, body: t.text, html: t.text, accountId: t.integer.nullable, turnKey: t.text.nullable },
  row: { id: t.bigint, turn: t.integer },
  sql: ({ threadId, body, html, accountId, turnKey }) => sql`with thread as (
      update agents.threads set turn_count = turn_count + 1, updated_at = clock_timestamp() where id = ${threadId}
      returning id, turn_count, updated_at
    )
    insert into agents.messages (thread_id, turn, note_type, body, html, created_at, account_id, turn_key)
    select thread.id, thread.turn_count, 'chat_operator', ${body}, ${html}, thread.updated_at, ${accountId}, ${turnKey} from thread
    returning id, turn`,
});

export const findMessage = statement.maybeOne({
  name: 'handover.message',
  params: { threadId: t.bigint, turn: t.integer },
  row: messageColumns,
  sql: ({ threadId, turn }) =>
    sql`${messages} where m.thread_id = ${threadId} and m.turn = ${turn} and m.note_type = 'chat_operator'`,
});

export const findOperatorMessageByKey = statement.maybeOne({
  name: 'handover.message-by-key',
  params: { threadId: t.bigint, turnKey: t.text },
  row: { turn: t.integer },
  sql: ({ threadId, turnKey }) => sql`select turn from agents.messages
    where turn_key = ${turnKey} and thread_id = ${threadId} and note_type = 'chat_operator'`,
});

/**
 * Returns the operators' messages after a turn. Returns one row without a message if no such message exists or the
 * visitor is unknown, and no row if the agent does not exist.
 */
export const listUpdates = statement.many({
  name: 'handover.updates',
  params: { agentSlug: t.text, visitorId: t.text, after: t.integer, limit: t.integer },
  row: {
    agentId: t.integer,
    threadId: t.bigint.nullable,
    taken: t.boolean,
    turn: t.integer.nullable,
    html: t.text.nullable,
    createdAt: t.text.nullable,
  },
  sql: ({ agentSlug, visitorId, after, limit }) => sql`select a.id as "agentId", t.id as "threadId",
      exists (select from agents.thread_takeovers o where o.thread_id = t.id and o.ended_at is null) as taken,
      m.turn, m.html, agents.iso_utc(m.created_at) as "createdAt"
    from agents.agents a left join agents.threads t on t.agent_id = a.id and t.visitor_id = ${visitorId} and t.channel = 'web'
    left join lateral (
      select * from agents.messages own
      where own.thread_id = t.id and own.note_type = 'chat_operator' and own.turn > ${after} order by own.turn limit ${limit}
    ) m on true
    where a.slug = ${agentSlug} and a.deleted_at is null order by m.turn`,
});
