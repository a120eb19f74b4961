/**
 * Forgetting (people erase, agents forget): conversations with everything that was made of them. Threads of the person go whole; in a
 * group only the turns that the person asked for go, and what was remembered of the group is made anew from the rest. The summaries of the
 * agents concerned are dropped and made anew from what other threads told.
 */
import { type Queryable, statement, type Tx } from '#libs/orm';
import { dropSummaries } from '../memory/index.ts';
import { telegramSender } from '../telegram/index.ts';

/** Exactly one of the last three, or none for all threads of the agent. */
export interface ForgetTarget {
  readonly agentId?: number | undefined;
  readonly threadKey?: string | undefined;
  readonly visitorId?: string | undefined;
  readonly telegramUserId?: number | undefined;
}

export interface Forgotten {
  readonly threads: number;
  readonly messages: number;
  readonly facts: number;
  /** Threads of others that lost turns: to be remembered anew. */
  readonly shortenedThreadIds: readonly number[];
  /** Agents whose summary was dropped: to be made anew. */
  readonly agentIds: readonly number[];
}

/** A private chat has the number of its user. */
const lockStatement = statement(
  'forget.lock',
  `select t.id, t.agent_id as "agentId", not (
       $4::text is not null and not starts_with(t.thread_key, 'telegram:chat:' || $5::text || ':agent:')
       and exists (select from agents.messages m where m.thread_id = t.id and m.note_type = 'chat_visitor' and m.sender is distinct from $4)
     ) as whole
   from agents.threads t
   where ($1::integer is null or t.agent_id = $1)
     and ($2::text is null or t.thread_key = $2)
     and ($3::text is null or t.visitor_id = $3)
     and ($4::text is null or starts_with(t.thread_key, 'telegram:chat:' || $5::text || ':agent:')
       or t.id in (select thread_id from agents.messages where sender = $4))
   order by t.id for update`,
);
const countStatement = statement(
  'forget.count',
  `select (select count(*)::integer from agents.messages where thread_id = any($1::bigint[])) as messages,
     (select count(*)::integer from agents.memory_facts where thread_id = any($1::bigint[])) as facts`,
);
const deleteHitsStatement = statement(
  'forget.hits',
  `delete from agents.chat_hits h using agents.threads t
   where t.id = any($1::bigint[]) and t.visitor_id is not null and starts_with(h.key, t.agent_id || ':' || t.visitor_id || ':')`,
);
const deleteThreadsStatement = statement('forget.threads', `delete from agents.threads where id = any($1::bigint[])`);
/** Both messages of a turn: the answer may repeat what was asked. Turns under way have read it, so they lose their turn. */
const deleteTurnsStatement = statement(
  'forget.turns',
  `with turns as (
     select thread_id, turn from agents.messages where thread_id = any($1::bigint[]) and sender = $2
   ), messages as (
     delete from agents.messages m using turns where m.thread_id = turns.thread_id and m.turn = turns.turn returning 1
   ), facts as (
     delete from agents.memory_facts where thread_id = any($1::bigint[]) returning 1
   ), tickets as (
     delete from agents.turn_tickets where thread_id = any($1::bigint[])
   ), memories as (
     insert into agents.thread_memories as m (thread_id) select unnest($1::bigint[])
     on conflict (thread_id) do update set summary = '', up_to_turn = 0, version = m.version + 1, updated_at = clock_timestamp()
   )
   select (select count(*)::integer from messages) as messages, (select count(*)::integer from facts) as facts`,
);
export async function forget(tx: Tx, target: ForgetTarget): Promise<Forgotten> {
  const sender = target.telegramUserId === undefined ? null : telegramSender(target.telegramUserId);
  const userId = target.telegramUserId === undefined ? null : String(target.telegramUserId);
  const values = [target.agentId ?? null, target.threadKey ?? null, target.visitorId ?? null, sender, userId];
  const found = await tx.query<{ id: number; agentId: number; whole: boolean }>(lockStatement, values);
  const whole = found.filter((thread) => thread.whole).map(({ id }) => id);
  const shortened = found.filter((thread) => !thread.whole).map(({ id }) => id);
  const agentIds = [...new Set(found.map(({ agentId }) => agentId))].toSorted((a, b) => a - b);
  const counts = await deleteWhole(tx, whole);
  const cut = shortened.length === 0 ? none : await deleteTurns(tx, shortened, sender);
  if (agentIds.length > 0) await dropSummaries(tx, agentIds);
  return {
    threads: whole.length,
    messages: counts.messages + cut.messages,
    facts: counts.facts + cut.facts,
    shortenedThreadIds: shortened,
    agentIds,
  };
}

interface Counts {
  readonly messages: number;
  readonly facts: number;
}
const none: Counts = { messages: 0, facts: 0 };

async function deleteWhole(tx: Queryable, threadIds: readonly number[]): Promise<Counts> {
  if (threadIds.length === 0) return none;
  const [counts] = await tx.query<Counts>(countStatement, [threadIds]);
  await tx.query(deleteHitsStatement, [threadIds]);
  await tx.query(deleteThreadsStatement, [threadIds]);
  return counts ?? none;
}

async function deleteTurns(tx: Queryable, threadIds: readonly number[], sender: string | null): Promise<Counts> {
  const [counts] = await tx.query<Counts>(deleteTurnsStatement, [threadIds, sender]);
  return counts ?? none;
}
