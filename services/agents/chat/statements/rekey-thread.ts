/** A thread gets another key, and its turns go behind those of a thread that has it already. */
import { sql, statement, t } from '#libs/sql';

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
  sql: ({ id, key }) => sql`update agents.threads set thread_key = ${key}, updated_at = clock_timestamp() where id = ${id}`,
});

/** Past the numbers of both threads first: no two turns have one number at any time. */
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

/** Whoever has the old thread has the new one, unless somebody has that already. */
export const moveTakeovers = statement.none({
  name: 'rekey.move-takeovers',
  params: { from: t.bigint, to: t.bigint },
  sql: ({ from, to }) => sql`update agents.thread_takeovers o set thread_id = ${to},
      ended_at = case when o.ended_at is null and exists (
        select from agents.thread_takeovers held where held.thread_id = ${to} and held.ended_at is null) then clock_timestamp() else o.ended_at end
    where o.thread_id = ${from}`,
});

/** The thread has the turns of the old one; what is remembered of it is made anew. */
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
