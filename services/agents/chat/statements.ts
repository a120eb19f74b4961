/**
 * Statements on threads, turns, turn tickets, takeovers and rate limits. A turn is two messages of one transaction, or
 * only the visitor's message during a takeover (H1).
 */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

/** Returns the id of the visitor's thread with this agent. */
export const findVisitorThread = statement.maybeOne({
  name: 'threads.find',
  params: { agentId: t.integer, visitorId: t.text },
  row: { id: t.bigint },
  sql: ({ agentId, visitorId }) =>
    sql`select id from agents.threads where agent_id = ${agentId} and visitor_id = ${visitorId} and channel = 'web'`,
});

/** Returns the visitor of a thread. Returns undefined when the thread does not exist. */
export const findVisitor = statement.maybeOne({
  name: 'threads.find-visitor',
  params: { threadId: t.bigint },
  row: { visitorId: t.text.nullable },
  sql: ({ threadId }) => sql`select visitor_id as "visitorId" from agents.threads where id = ${threadId}`,
});

/** Columns that identify a thread. */
export interface ThreadKey {
  /** `web:visitor:<visitor_id>:agent:<agent_id>` or `telegram:chat:<chat_id>:agent:<agent_id>`. */
  readonly key: string;
  readonly channel: 'web' | 'telegram';
  /** Only set for the channel `web`. */
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

/** Finds or creates the thread. Returns undefined when the thread changed concurrently; the caller retries. */
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
 * A recorded turn. `turn` starts at 1 and `createdAt` is ISO 8601 with `Z`. The agent's fields are null during a
 * takeover (H2).
 */
export type StoredTurn = RowOf<typeof storedTurn>;

export const findTurn = statement.maybeOne({
  name: 'threads.find-turn',
  params: { turnKey: t.text },
  row: storedTurn,
  sql: ({
    turnKey,
  }) => sql`select human.thread_id as "threadId", human.turn, human.body as "humanBody", human.html as "humanHtml",
      agent.body as "agentBody", agent.html as "agentHtml", iso_utc(human.created_at) as "createdAt"
    from agents.messages human
    left join agents.messages agent on agent.thread_id = human.thread_id and agent.turn = human.turn and agent.note_type = 'chat_agent'
    where human.turn_key = ${turnKey} and human.note_type = 'chat_visitor'`,
});

/** Returns the latest turns, newest first. A missing message is `""`. */
export const listLatestTurns = statement.many({
  name: 'threads.list-turns',
  params: { threadId: t.bigint, limit: t.integer },
  row: { humanBody: t.text, agentBody: t.text, operatorBody: t.text },
  sql: ({
    threadId,
    limit,
  }) => sql`select coalesce(max(body) filter (where note_type = 'chat_visitor'), '') as "humanBody",
      coalesce(max(body) filter (where note_type = 'chat_agent'), '') as "agentBody",
      coalesce(max(body) filter (where note_type = 'chat_operator'), '') as "operatorBody"
    from agents.messages where thread_id = ${threadId} group by turn order by turn desc limit ${limit}`,
});

/** Unique index on `turn_key`. */
export const turnKeyConstraint = 'messages__turn_key__key';

/** Writes both messages of a turn, or only the visitor's message. Returns undefined when the thread does not exist. */
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

/**
 * Issues a ticket for the turn queue of a thread, which runs one turn at a time (D33). Tickets are numbered under the
 * thread's row lock, i.e. in commit order; the queue skips tickets with an expired lease. Returns undefined when the
 * thread does not exist.
 */
export const issueTicket = statement.maybeOne({
  name: 'tickets.take',
  params: { threadId: t.bigint, leaseSeconds: t.double },
  row: { ticket: t.bigint },
  sql: ({ threadId, leaseSeconds }) => sql`with thread as (
      update agents.threads set last_ticket = last_ticket + 1 where id = ${threadId} returning id, last_ticket
    )
    insert into agents.turn_tickets (thread_id, ticket, lease_until)
    select id, last_ticket, clock_timestamp() + make_interval(secs => ${leaseSeconds}) from thread returning ticket`,
});

/**
 * Renews the lease of a ticket and returns how many tickets precede it (`earlier`). Returns undefined when the lease
 * has expired.
 */
export const renewTicket = statement.maybeOne({
  name: 'tickets.renew',
  params: { threadId: t.bigint, ticket: t.bigint, leaseSeconds: t.double },
  row: { earlier: t.integer },
  sql: ({ threadId, ticket, leaseSeconds }) => sql`update agents.turn_tickets
    set lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where thread_id = ${threadId} and ticket = ${ticket} and lease_until > clock_timestamp()
    returning (
      select count(*)::integer from agents.turn_tickets earlier
      where earlier.thread_id = ${threadId} and earlier.ticket < ${ticket} and earlier.lease_until > clock_timestamp()
    ) as earlier`,
});

/**
 * Ends the turn in the transaction that records it. Returns undefined when the lease has expired: the transaction must
 * roll back.
 */
export const redeemTicket = statement.maybeOne({
  name: 'tickets.use',
  params: { threadId: t.bigint, ticket: t.bigint },
  row: { ticket: t.bigint },
  sql: ({ threadId, ticket }) => sql`delete from agents.turn_tickets
    where thread_id = ${threadId} and ticket = ${ticket} and lease_until > clock_timestamp() returning ticket`,
});

/**
 * Deletes a ticket. Also deletes the thread if it was created for a first turn that failed and no other ticket waits.
 */
export const deleteTicket = statement.none({
  name: 'tickets.return',
  params: { threadId: t.bigint, ticket: t.bigint },
  sql: ({ threadId, ticket }) => sql`with returned as (
      delete from agents.turn_tickets where thread_id = ${threadId} and ticket = ${ticket}
    )
    delete from agents.threads t where t.id = ${threadId} and t.turn_count = 0 and t.last_ticket = ${ticket}
      and not exists (select from agents.turn_tickets other where other.thread_id = ${threadId} and other.ticket <> ${ticket})`,
});

/** Deletes tickets of crashed processes and old rate-limit entries. */
export const sweepTicketsAndHits = statement.none({
  name: 'tickets.sweep',
  sql: () => sql`with tickets as (delete from agents.turn_tickets where lease_until < clock_timestamp() - interval '1 hour')
    delete from agents.chat_hits where updated_at < statement_timestamp() - interval '5 minutes'`,
});

/** Returns the open takeover, or undefined while the agent replies. `accountId` null = admin CLI. */
export const findTakeover = statement.maybeOne({
  name: 'takeovers.find',
  params: { threadId: t.bigint },
  row: { accountId: t.integer.nullable, takenAt: t.text },
  sql: ({
    threadId,
  }) => sql`select account_id as "accountId", agents.iso_utc(taken_at) as "takenAt" from agents.thread_takeovers
    where thread_id = ${threadId} and ended_at is null`,
});

/**
 * Locks a thread, so that takeovers and recorded turns run one after the other. Returns undefined when the thread does
 * not exist.
 */
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

/**
 * Counts a message under `key` unless `limit` messages were admitted in the last minute. `retryAfter` is in seconds.
 * The row lock makes concurrent counts exact.
 */
export const admitMessage = statement.one({
  name: 'rate-limit.admit',
  params: { key: t.text, limit: t.integer },
  row: { admitted: t.boolean, retryAfter: t.integer },
  sql: ({ key, limit }) => sql`insert into agents.chat_hits as c (key, hit_at, updated_at)
    values (${key}, array[clock_timestamp()], clock_timestamp())
    on conflict (key) do update set
      updated_at = clock_timestamp(),
      hit_at = (
        select case when count(*) < ${limit} then coalesce(array_agg(at order by at), '{}') || clock_timestamp()
          else array_agg(at order by at) || 'infinity'::timestamptz end
        from unnest(c.hit_at) as hits (at)
        where at <> 'infinity' and at > statement_timestamp() - interval '1 minute'
      )
    returning not ('infinity' = any (hit_at)) as admitted, greatest(1, ceil(extract(epoch from
      hit_at[greatest(1, cardinality(hit_at) - ${limit})] + interval '1 minute' - clock_timestamp())))::integer as "retryAfter"`,
});

export const lockThreads = statement.many({
  name: 'rekey.lock',
  params: { agentId: t.integer, from: t.text, to: t.text },
  row: { id: t.bigint, key: t.text, turns: t.integer },
  sql: ({ agentId, from, to }) => sql`select id, thread_key as key, turn_count as turns from agents.threads
    where agent_id = ${agentId} and thread_key in (${from}, ${to}) order by id for update`,
});

export const renameThread = statement.none({
  name: 'rekey.rename',
  params: { id: t.bigint, key: t.text },
  sql: ({ id, key }) =>
    sql`update agents.threads set thread_key = ${key}, updated_at = clock_timestamp() where id = ${id}`,
});

/** Renumbers turns with negative numbers first, so that turn numbers remain unique. */
export const negateTurns = statement.none({
  name: 'rekey.make-room',
  params: { threadId: t.bigint, turns: t.integer },
  sql: ({ threadId, turns }) => sql`update agents.messages set turn = -(turn + ${turns}) where thread_id = ${threadId}`,
});

export const restoreTurns = statement.none({
  name: 'rekey.move-behind',
  params: { threadId: t.bigint },
  sql: ({ threadId }) => sql`update agents.messages set turn = -turn where thread_id = ${threadId} and turn < 0`,
});

export const moveMessages = statement.none({
  name: 'rekey.move-messages',
  params: { from: t.bigint, to: t.bigint },
  sql: ({ from, to }) => sql`update agents.messages set thread_id = ${to} where thread_id = ${from}`,
});

/** Moves the takeover of the old thread to the new one, unless the new thread has a takeover. */
export const moveTakeovers = statement.none({
  name: 'rekey.move-takeovers',
  params: { from: t.bigint, to: t.bigint },
  sql: ({ from, to }) => sql`update agents.thread_takeovers o set thread_id = ${to},
      ended_at = case when o.ended_at is null and exists (
        select from agents.thread_takeovers existing where existing.thread_id = ${to} and existing.ended_at is null) then clock_timestamp() else o.ended_at end
    where o.thread_id = ${from}`,
});

/** Adds the number of the old thread's turns to the new thread and clears its memory, which is rebuilt. */
export const addTurns = statement.none({
  name: 'rekey.grow',
  params: { id: t.bigint, oldId: t.bigint, turns: t.integer },
  sql: ({ id, oldId, turns }) => sql`with facts as (delete from agents.memory_facts where thread_id = ${id}),
    memory as (
      insert into agents.thread_memories as m (thread_id) values (${id})
      on conflict (thread_id) do update set summary = '', up_to_turn = 0, version = m.version + 1, updated_at = clock_timestamp()
    )
    update agents.threads t
    set turn_count = t.turn_count + ${turns}, created_at = least(t.created_at, old.created_at), updated_at = clock_timestamp()
    from agents.threads old where t.id = ${id} and old.id = ${oldId}`,
});

export const deleteThread = statement.none({
  name: 'rekey.drop',
  params: { id: t.bigint },
  sql: ({ id }) => sql`delete from agents.threads where id = ${id}`,
});
