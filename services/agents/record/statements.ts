/** What operators see of an agent's conversations: threads with messages and memory, in pages, as JSON text. */
import { type Queryable, statement } from '#libs/orm';

/** Messages of a thread in a page of threads. */
const messagesPerThread = 200;

const agentJson = `(
  select json_build_object('id', a.id, 'slug', a.slug, 'name', a.name, 'memory', json_build_object(
    'summary', coalesce((select summary from agents.agent_memories m where m.agent_id = a.id), ''),
    'notes', coalesce((
      select json_agg(f.body order by f.id desc) from agents.memory_facts f where f.agent_id = a.id and f.kind = 'knowledge'), '[]'::json)))
  from agents.agents a where a.id = $1)`;

const messageJson = `json_build_object('id', m.id, 'note_type', m.note_type, 'body', m.body, 'html', m.html, 'created_at', iso_utc(m.created_at))`;

const threadJson = (messages: string): string => `json_build_object(
  'thread_key', t.thread_key, 'created_at', iso_utc(t.created_at), 'updated_at', iso_utc(t.updated_at),
  'message_count', (select count(*) from agents.messages m where m.thread_id = t.id),
  'messages', coalesce((${messages}), '[]'::json),
  'memory', json_build_object(
    'summary', coalesce((select summary from agents.thread_memories m where m.thread_id = t.id), ''),
    'facts', coalesce((select json_agg(f.body order by f.id) from agents.memory_facts f where f.thread_id = t.id and f.kind = 'visitor'), '[]'::json),
    'notes', coalesce((select json_agg(f.body order by f.id) from agents.memory_facts f where f.thread_id = t.id and f.kind = 'knowledge'), '[]'::json),
    'up_to_turn', coalesce((select up_to_turn from agents.thread_memories m where m.thread_id = t.id), 0)))`;

/** One row more than asked tells whether there is another page. Threads whose first turn is under way are not there yet. */
const threadPageStatement = statement(
  'record.threads',
  `with page as (
     select * from agents.threads where agent_id = $1 and id > $2 and turn_count > 0 order by id limit $3 + 1
   ), shown as (select * from page order by id limit $3)
   select json_build_object(
     'agent', ${agentJson},
     'threads', coalesce((select json_agg(${threadJson(
       `select json_agg(${messageJson} order by m.turn, m.id) from (
          select * from agents.messages where thread_id = t.id order by turn desc, id desc limit ${messagesPerThread}) m`,
     )} order by t.id) from shown t), '[]'::json),
     'next', case when (select count(*) from page) > $3 then (select max(id) from shown) end)::text as json`,
);
/** `after` counts messages: their order is that of turns, which a merged thread does not have in its ids. */
const messagePageStatement = statement(
  'record.messages',
  `select json_build_object(
     'agent', ${agentJson},
     'threads', coalesce((select json_agg(${threadJson(
       `select json_agg(${messageJson} order by m.turn, m.id) from (
          select * from agents.messages where thread_id = t.id order by turn, id offset $2 limit $3) m`,
     )}) from agents.threads t where t.agent_id = $1 and t.thread_key = $4), '[]'::json),
     'next', (select case when count(*) > $2 + $3 then $2 + $3 end
       from agents.messages m join agents.threads t on t.id = m.thread_id where t.agent_id = $1 and t.thread_key = $4))::text as json`,
);

export async function renderThreadPage(db: Queryable, page: { agentId: number; after: number; limit: number }): Promise<string> {
  return await render(db, threadPageStatement, [page.agentId, page.after, page.limit]);
}

export async function renderMessagePage(
  db: Queryable,
  page: { agentId: number; threadKey: string; after: number; limit: number },
): Promise<string> {
  return await render(db, messagePageStatement, [page.agentId, page.after, page.limit, page.threadKey]);
}

async function render(db: Queryable, item: ReturnType<typeof statement>, values: readonly unknown[]): Promise<string> {
  const [row] = await db.query<{ json: string }>(item, values);
  return (row as { json: string }).json;
}
