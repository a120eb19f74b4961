/** What operators see of an agent's conversations: threads with messages and memory, in pages, as JSON text. */
import { type Parameter, type Sql, sql, statement, t } from '#libs/sql';

/** Messages of a thread in a page of threads. */
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

/** One row more than asked for shows whether there is another page. Threads whose first turn is under way are not there yet. */
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

/** `after` counts messages: their order is that of turns, which a merged thread does not have in its ids. */
export const renderMessagePage = statement.one({
  name: 'record.messages',
  params: { agentId: t.integer, threadKey: t.text.nullable, threadId: t.bigint.nullable, after: t.bigint, limit: t.bigint },
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

/** By slug, behind one or from the first. What an agent gathers is bounded, so that counting it is. */
export const listAgents = statement.many({
  name: 'record.agents',
  params: { after: t.text, limit: t.integer },
  row: { slug: t.text, name: t.text, waiting: t.integer, approved: t.integer },
  sql: ({ after, limit }) => sql`select a.slug, a.name, f.waiting, f.approved
    from (select id, slug, name from agents.agents where slug > ${after} order by slug limit ${limit}) a
    cross join lateral (
      select count(*) filter (where approved_at is null)::integer as waiting, count(approved_at)::integer as approved
      from agents.memory_facts where agent_id = a.id and kind = 'knowledge') f
    order by a.slug`,
});
