/** Chat threads and their turns. A turn is two messages written in one transaction, or nothing; one while a person has the thread (H1). */
import { type RowOf, sql, statement, t } from '#libs/sql';

/** Id of the visitor's thread with this agent. */
export const findVisitorThread = statement.maybeOne({
  name: 'threads.find',
  params: { agentId: t.integer, visitorId: t.text },
  row: { id: t.bigint },
  sql: ({ agentId, visitorId }) =>
    sql`select id from agents.threads where agent_id = ${agentId} and visitor_id = ${visitorId} and channel = 'web'`,
});

/** The visitor whose thread it is; undefined when it is gone. */
export const findVisitor = statement.maybeOne({
  name: 'threads.find-visitor',
  params: { threadId: t.bigint },
  row: { visitorId: t.text.nullable },
  sql: ({ threadId }) => sql`select visitor_id as "visitorId" from agents.threads where id = ${threadId}`,
});

/** What a thread is made of. */
export interface ThreadKey {
  /** `web:visitor:<visitor_id>:agent:<agent_id>` or `telegram:chat:<chat_id>:agent:<agent_id>`. */
  readonly key: string;
  readonly channel: 'web' | 'telegram';
  /** Exactly for `web`. */
  readonly visitorId?: string | undefined;
}

const newThread = { agentId: t.integer, key: t.text, channel: t.text, visitorId: t.text.nullable };

export const createThread = statement.one({
  name: 'threads.create',
  params: newThread,
  row: { id: t.bigint },
  sql: ({ agentId, key, channel, visitorId }) =>
    sql`insert into agents.threads (agent_id, thread_key, channel, visitor_id) values (${agentId}, ${key}, ${channel}, ${visitorId})
      returning id`,
});

/** The thread, made when there is none. Undefined when it changes hands at this moment: ask again. */
export const ensureThread = statement.maybeOne({
  name: 'threads.ensure',
  params: newThread,
  row: { id: t.bigint },
  sql: ({ agentId, key, channel, visitorId }) => sql`with added as (
      insert into agents.threads (agent_id, thread_key, channel, visitor_id) values (${agentId}, ${key}, ${channel}, ${visitorId})
      on conflict do nothing returning id
    )
    select id from added union all select id from agents.threads where agent_id = ${agentId} and thread_key = ${key} limit 1`,
});

const storedTurn = {
  threadId: t.bigint,
  turn: t.integer,
  humanBody: t.text,
  humanHtml: t.text,
  agentBody: t.text.nullable,
  agentHtml: t.text.nullable,
  createdAt: t.text,
};
/**
 * A turn as recorded: `turn` is 1 for the first of its thread, `createdAt` ISO 8601 with `Z`. Without the agent's words when a person has the
 * thread and will answer (H2).
 */
export type StoredTurn = RowOf<typeof storedTurn>;

export const findTurn = statement.maybeOne({
  name: 'threads.find-turn',
  params: { turnKey: t.text },
  row: storedTurn,
  sql: ({ turnKey }) => sql`select human.thread_id as "threadId", human.turn, human.body as "humanBody", human.html as "humanHtml",
      agent.body as "agentBody", agent.html as "agentHtml", iso_utc(human.created_at) as "createdAt"
    from agents.messages human
    left join agents.messages agent on agent.thread_id = human.thread_id and agent.turn = human.turn and agent.note_type = 'chat_agent'
    where human.turn_key = ${turnKey} and human.note_type = 'chat_visitor'`,
});

/** The newest turns first; what nobody said in a turn is `""`. */
export const listLatestTurns = statement.many({
  name: 'threads.list-turns',
  params: { threadId: t.bigint, limit: t.integer },
  row: { humanBody: t.text, agentBody: t.text, operatorBody: t.text },
  sql: ({ threadId, limit }) => sql`select coalesce(max(body) filter (where note_type = 'chat_visitor'), '') as "humanBody",
      coalesce(max(body) filter (where note_type = 'chat_agent'), '') as "agentBody",
      coalesce(max(body) filter (where note_type = 'chat_operator'), '') as "operatorBody"
    from agents.messages where thread_id = ${threadId} group by turn order by turn desc limit ${limit}`,
});

/** Unique index on `turn_key`. */
export const turnKeyConstraint = 'messages__turn_key__key';

/** Writes both messages, or the visitor's alone. Undefined when the thread is gone. */
export const recordTurn = statement.maybeOne({
  name: 'threads.record-turn',
  params: {
    threadId: t.bigint,
    humanBody: t.text,
    humanHtml: t.text,
    agentBody: t.text.nullable,
    agentHtml: t.text.nullable,
    turnKey: t.text.nullable,
    sender: t.text.nullable,
  },
  row: { turn: t.integer, createdAt: t.text },
  sql: ({ threadId, humanBody, humanHtml, agentBody, agentHtml, turnKey, sender }) => sql`with thread as (
      update agents.threads set turn_count = turn_count + 1, updated_at = clock_timestamp() where id = ${threadId}
      returning id, turn_count, updated_at
    ), written as (
      insert into agents.messages (thread_id, turn, note_type, body, html, created_at, turn_key, sender)
      select thread.id, thread.turn_count, message.note_type, message.body, message.html, thread.updated_at, message.turn_key, message.sender
      from thread, (values
        (1, 'chat_visitor', ${humanBody}, ${humanHtml}, ${turnKey}, ${sender}),
        (2, 'chat_agent', ${agentBody}, ${agentHtml}, null::text, null::text)
      ) as message (position, note_type, body, html, turn_key, sender)
      where message.body is not null
      order by message.position
    )
    select turn_count as turn, iso_utc(updated_at) as "createdAt" from thread`,
});
