/** Chat threads and their turns. A turn is two messages written in one transaction, or nothing. */
import { type Queryable, statement, type Tx } from '#libs/orm';

export interface Turn {
  readonly humanBody: string;
  readonly agentBody: string;
}

const findThreadStatement = statement(
  'threads.find',
  `select id from agents.threads where agent_id = $1 and visitor_id = $2 and channel = 'web'`,
);
const findVisitorStatement = statement('threads.find-visitor', `select visitor_id as "visitorId" from agents.threads where id = $1`);
const createThreadStatement = statement(
  'threads.create',
  `insert into agents.threads (agent_id, thread_key, channel, visitor_id) values ($1, $2, $3, $4) returning id`,
);
const ensureThreadStatement = statement(
  'threads.ensure',
  `with added as (
     insert into agents.threads (agent_id, thread_key, channel, visitor_id) values ($1, $2, $3, $4) on conflict do nothing returning id
   )
   select id from added union all select id from agents.threads where agent_id = $1 and thread_key = $2 limit 1`,
);
const findTurnStatement = statement(
  'threads.find-turn',
  `select human.thread_id as "threadId", human.turn, human.body as "humanBody", human.html as "humanHtml",
     agent.body as "agentBody", agent.html as "agentHtml", iso_utc(human.created_at) as "createdAt"
   from agents.messages human
   join agents.messages agent on agent.thread_id = human.thread_id and agent.turn = human.turn and agent.note_type = 'chat_agent'
   where human.turn_key = $1`,
);
const listTurnsStatement = statement(
  'threads.list-turns',
  `select max(body) filter (where note_type = 'chat_visitor') as "humanBody", max(body) filter (where note_type = 'chat_agent') as "agentBody"
   from agents.messages where thread_id = $1 group by turn order by turn desc limit $2`,
);
const recordTurnStatement = statement(
  'threads.record-turn',
  `with thread as (
     update agents.threads set turn_count = turn_count + 1, updated_at = clock_timestamp() where id = $1 returning id, turn_count, updated_at
   ), written as (
     insert into agents.messages (thread_id, turn, note_type, body, html, created_at, turn_key, sender)
     select thread.id, thread.turn_count, message.note_type, message.body, message.html, thread.updated_at, message.turn_key, message.sender
     from thread, (values
       (1, 'chat_visitor', $2::text, $3::text, $6::text, $7::text),
       (2, 'chat_agent', $4::text, $5::text, null, null)
     ) as message (position, note_type, body, html, turn_key, sender)
     order by message.position
   )
   select turn_count as turn, iso_utc(updated_at) as "createdAt" from thread`,
);
/** Id of the visitor's thread with this agent. */
export async function findVisitorThread(db: Queryable, agentId: number, visitorId: string): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(findThreadStatement, [agentId, visitorId]);
  return row?.id;
}

/** Id of the visitor whose thread it is; undefined when it is gone. */
export async function findVisitor(db: Queryable, threadId: number): Promise<string | undefined> {
  const [row] = await db.query<{ visitorId: string | null }>(findVisitorStatement, [threadId]);
  return row?.visitorId ?? undefined;
}

/** What a thread is made of. */
export interface ThreadKey {
  /** `web:visitor:<visitor_id>:agent:<agent_id>` or `telegram:chat:<chat_id>:agent:<agent_id>`. */
  readonly key: string;
  readonly channel: 'web' | 'telegram';
  /** Exactly for `web`. */
  readonly visitorId?: string | undefined;
}

export async function createThread(tx: Tx, agentId: number, thread: ThreadKey): Promise<number> {
  const [row] = await tx.query<{ id: number }>(createThreadStatement, [agentId, thread.key, thread.channel, thread.visitorId ?? null]);
  return (row as { id: number }).id;
}

/** Id of the thread, made when there is none. Undefined when it changes hands at this moment: ask again. */
export async function ensureThread(db: Queryable, agentId: number, thread: ThreadKey): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(ensureThreadStatement, [agentId, thread.key, thread.channel, thread.visitorId ?? null]);
  return row?.id;
}

/** A turn as recorded. */
export interface StoredTurn {
  readonly threadId: number;
  /** 1 for the first of its thread. */
  readonly turn: number;
  readonly humanBody: string;
  readonly humanHtml: string;
  readonly agentBody: string;
  readonly agentHtml: string;
  /** ISO 8601 with `Z`. */
  readonly createdAt: string;
}

export async function findTurn(db: Queryable, turnKey: string): Promise<StoredTurn | undefined> {
  const [row] = await db.query<StoredTurn>(findTurnStatement, [turnKey]);
  return row;
}

/** The newest turns first. */
export async function listLatestTurns(db: Queryable, threadId: number, limit: number): Promise<Turn[]> {
  return await db.query<Turn>(listTurnsStatement, [threadId, limit]);
}

/** Unique index on `turn_key`. */
export const turnKeyConstraint = 'messages__turn_key__key';

export interface NewTurn {
  readonly threadId: number;
  readonly human: { readonly body: string; readonly html: string };
  readonly agent: { readonly body: string; readonly html: string };
  readonly turnKey: string | undefined;
  readonly sender: string | undefined;
}

/** Writes both messages. Undefined when the thread is gone. */
export async function recordTurn(tx: Tx, { threadId, human, agent, turnKey, sender }: NewTurn): Promise<StoredTurn | undefined> {
  const values = [threadId, human.body, human.html, agent.body, agent.html, turnKey ?? null, sender ?? null];
  const [row] = await tx.query<{ turn: number; createdAt: string }>(recordTurnStatement, values);
  if (row === undefined) return undefined;
  return { threadId, ...row, humanBody: human.body, humanHtml: human.html, agentBody: agent.body, agentHtml: agent.html };
}
