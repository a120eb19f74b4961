/** Statements that return stored conversations as JSON pages, erase them, and export them for a person. */
import { type Parameter, type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

/** Maximum messages per thread in a page of threads. */
const messagesPerThread = 200;

const agentJson = (agentId: Parameter): Sql => sql`(
  select json_build_object('id', a.id, 'slug', a.slug, 'name', a.name, 'memory', json_build_object(
    'summary', coalesce((select summary from agents.agent_memories m where m.agent_id = a.id), ''),
    'notes', coalesce((
      select json_agg(f.body order by f.id desc) from agents.memory_facts f where f.agent_id = a.id and f.kind = 'knowledge'), '[]'::json)))
  from agents.agents a where a.id = ${agentId})`;

const messageJson = sql`json_build_object('id', m.id, 'note_type', m.note_type, 'body', m.body, 'html', m.html, 'account_id', m.account_id,
  'created_at', iso_utc(m.created_at))`;

const threadJson = (messages: Sql): Sql => sql`json_build_object(
  'thread_key', t.thread_key, 'created_at', iso_utc(t.created_at), 'updated_at', iso_utc(t.updated_at),
  'message_count', (select count(*) from agents.messages m where m.thread_id = t.id),
  'messages', coalesce((select json_agg(${messageJson} order by m.turn, m.id) from (${messages}) m), '[]'::json),
  'memory', json_build_object(
    'summary', coalesce((select summary from agents.thread_memories m where m.thread_id = t.id), ''),
    'facts', coalesce((select json_agg(f.body order by f.id) from agents.memory_facts f where f.thread_id = t.id and f.kind = 'visitor'), '[]'::json),
    'notes', coalesce((select json_agg(f.body order by f.id) from agents.memory_facts f where f.thread_id = t.id and f.kind = 'knowledge'), '[]'::json),
    'up_to_turn', coalesce((select up_to_turn from agents.thread_memories m where m.thread_id = t.id), 0)))`;

/** Returns a page of threads with a recorded turn. Reads one extra row to detect another page. */
export const renderThreadPage = statement.one({
  name: 'record.threads',
  params: { agentId: t.integer, after: t.bigint, limit: t.integer },
  row: { json: t.text },
  sql: ({ agentId, after, limit }) => sql`with page as (
      select * from agents.threads where agent_id = ${agentId} and id > ${after} and turn_count > 0 order by id limit ${limit} + 1
    ), shown as (select * from page order by id limit ${limit})
    select json_build_object(
      'agent', ${agentJson(agentId)},
      'threads', coalesce((select json_agg(${threadJson(
        sql`select * from agents.messages where thread_id = t.id order by turn desc, id desc limit ${messagesPerThread}`,
      )} order by t.id) from shown t), '[]'::json),
      'next', case when (select count(*) from page) > ${limit} then (select max(id) from shown) end)::text as json`,
});

const isThread = (agentId: Parameter, key: Parameter, id: Parameter): Sql => sql`t.agent_id = ${agentId}
  and (${key} is null or t.thread_key = ${key}) and (${id} is null or t.id = ${id})`;

/**
 * Returns a page of messages. `after` is a number of messages to skip, since ids in a merged thread do not follow the
 * order of its turns.
 */
export const renderMessagePage = statement.one({
  name: 'record.messages',
  params: {
    agentId: t.integer,
    threadKey: t.text.nullable,
    threadId: t.bigint.nullable,
    after: t.bigint,
    limit: t.bigint,
  },
  row: { json: t.text },
  planned: 'each-call',
  sql: ({ agentId, threadKey, threadId, after, limit }) => sql`select json_build_object(
      'agent', ${agentJson(agentId)},
      'threads', coalesce((select json_agg(${threadJson(
        sql`select * from agents.messages where thread_id = t.id order by turn, id offset ${after} limit ${limit}`,
      )}) from agents.threads t where ${isThread(agentId, threadKey, threadId)}), '[]'::json),
      'next', (select case when count(*) > ${after} + ${limit} then ${after} + ${limit} end
        from agents.messages m join agents.threads t on t.id = m.thread_id
        where ${isThread(agentId, threadKey, threadId)}))::text as json`,
});

/** Returns agents by slug with their number of sentences, which is limited per agent. */
export const listAgents = statement.many({
  name: 'record.agents',
  params: { after: t.text, limit: t.integer },
  row: { slug: t.text, name: t.text, waiting: t.integer, approved: t.integer },
  sql: ({ after, limit }) => sql`select a.slug, a.name, f.waiting, f.approved
    from (select id, slug, name from agents.agents where slug > ${after} and deleted_at is null order by slug limit ${limit}) a
    cross join lateral (
      select count(*) filter (where approved_at is null)::integer as waiting, count(approved_at)::integer as approved
      from agents.memory_facts where agent_id = a.id and kind = 'knowledge') f
    order by a.slug`,
});

/**
 * Locks the threads of one key, visitor or sender, or all threads of the agent. `whole` marks threads that are deleted
 * entirely. The key of a private chat contains the id of its user (`userId`).
 */
export const lockThreads = statement.many({
  name: 'forget.lock',
  params: {
    agentId: t.integer.nullable,
    threadKey: t.text.nullable,
    visitorId: t.text.nullable,
    sender: t.text.nullable,
    userId: t.text.nullable,
  },
  row: { id: t.bigint, agentId: t.integer, whole: t.boolean },
  sql: ({ agentId, threadKey, visitorId, sender, userId }) => sql`select t.id, t.agent_id as "agentId", not (
      ${sender} is not null and not starts_with(t.thread_key, 'telegram:chat:' || ${userId} || ':agent:') and exists (
        select from agents.messages m where m.thread_id = t.id and m.note_type = 'chat_visitor' and m.sender is distinct from ${sender})
    ) as whole
    from agents.threads t
    where (${agentId} is null or t.agent_id = ${agentId})
      and (${threadKey} is null or t.thread_key = ${threadKey})
      and (${visitorId} is null or t.visitor_id = ${visitorId})
      and (${sender} is null or starts_with(t.thread_key, 'telegram:chat:' || ${userId} || ':agent:')
        or t.id in (select thread_id from agents.messages where sender = ${sender}))
    order by t.id for update`,
});

const counts = { messages: t.integer, facts: t.integer };

export const countThreadData = statement.one({
  name: 'forget.count',
  params: { threadIds: t.bigint.array },
  row: counts,
  sql: ({
    threadIds,
  }) => sql`select (select count(*)::integer from agents.messages where thread_id = any(${threadIds})) as messages,
    (select count(*)::integer from agents.memory_facts where thread_id = any(${threadIds})) as facts`,
});

export const deleteChatHits = statement.none({
  name: 'forget.hits',
  params: { threadIds: t.bigint.array },
  sql: ({ threadIds }) => sql`delete from agents.chat_hits h using agents.threads t
    where t.id = any(${threadIds}) and t.visitor_id is not null and starts_with(h.key, t.agent_id || ':' || t.visitor_id || ':')`,
});

export const deleteThreads = statement.none({
  name: 'forget.threads',
  params: { threadIds: t.bigint.array },
  sql: ({ threadIds }) => sql`delete from agents.threads where id = any(${threadIds})`,
});

/**
 * Deletes both messages of a turn, since the reply can repeat the question, and the operators' messages after it.
 * Running turns have read these messages, so their tickets are deleted.
 */
export const deleteTurns = statement.one({
  name: 'forget.turns',
  params: { threadIds: t.bigint.array, sender: t.text.nullable },
  row: counts,
  sql: ({ threadIds, sender }) => sql`with turns as (
      select thread_id, turn from agents.messages where thread_id = any(${threadIds}) and sender = ${sender}
    ), messages as (
      delete from agents.messages m
      using (select thread_id, array_agg(turn) as numbers, min(turn) as first from turns group by thread_id) as affected
      where m.thread_id = affected.thread_id
        and (m.turn = any(affected.numbers) or (m.note_type = 'chat_operator' and m.turn > affected.first)) returning 1
    ), facts as (
      delete from agents.memory_facts where thread_id = any(${threadIds}) returning 1
    ), tickets as (
      delete from agents.turn_tickets where thread_id = any(${threadIds})
    ), memories as (
      insert into agents.thread_memories as m (thread_id) select unnest(${threadIds})
      on conflict (thread_id) do update set summary = '', up_to_turn = 0, version = m.version + 1, updated_at = clock_timestamp()
    )
    select (select count(*)::integer from messages) as messages, (select count(*)::integer from facts) as facts`,
});

const isTheirs = sql`(m.thread_id in (select id from own) or (m.thread_id, m.turn) in (select thread_id, turn from asked))`;

/** CTEs of a person's threads and of questions in groups. `users` are Telegram ids as text. */
const ownMessagesSql = (visitors: SqlPart, users: SqlPart): Sql => sql`with own as (
      select t.id from agents.threads t where t.visitor_id = any(${visitors})
      union select t.id from agents.threads t join agents.agents a on a.id = t.agent_id
        join unnest(${users}) as given(telegram) on t.thread_key = 'telegram:chat:' || given.telegram || ':agent:' || a.id
    ), asked as (
      select m.thread_id, m.turn from agents.messages m
      where m.sender = any(select 'telegram:user:' || given.telegram from unnest(${users}) as given(telegram))
    )`;

/** Counts the messages that an erasure of the person removes. */
export const countMessagesOf = statement.one({
  name: 'person-data.count-messages',
  params: { visitors: t.text.array, users: t.text.array },
  row: { count: t.integer },
  sql: ({ visitors, users }) =>
    sql`${ownMessagesSql(visitors, users)} select count(*)::integer as count from agents.messages m where ${isTheirs}`,
});

/**
 * Returns the messages of a person for export. A question in a group includes its reply. Messages that `accounts` wrote
 * as operators omit the thread key, which would grant access as the visitor.
 */
export const listMessagesOf = statement.many({
  name: 'person-data.messages',
  params: { visitors: t.text.array, users: t.text.array, accounts: t.integer.array, after: t.bigint, limit: t.integer },
  row: { id: t.bigint, item: t.text },
  sql: ({ visitors, users, accounts, after, limit }) => sql`${ownMessagesSql(visitors, users)}
    select m.id, json_build_object('agent', a.slug, 'thread_key', case when ${isTheirs} then t.thread_key end, 'note_type', m.note_type, 'body', m.body,
      'created_at', agents.iso_utc(m.created_at))::text as item
    from agents.messages m join agents.threads t on t.id = m.thread_id join agents.agents a on a.id = t.agent_id
    where m.id > ${after} and (${isTheirs} or m.account_id = any(${accounts}))
    order by m.id limit ${limit}`,
});
