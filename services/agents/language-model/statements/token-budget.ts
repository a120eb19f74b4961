/** What each agent has used of its tokens of the day (UTC), one row per agent, for all replicas together (D71). */
import { type Queryable, statement } from '#libs/orm';

/** A call waits for the row and may find that another has begun the next day meanwhile. */
const takeStatement = statement(
  'token-budget.take',
  `with clock as (select clock_timestamp() at time zone 'UTC' as now), taken as (
     insert into agents.token_budgets as b (agent_id, day, tokens) select $1::integer, now::date, $2::bigint from clock
     on conflict (agent_id) do update set
       day = greatest(b.day, excluded.day), tokens = excluded.tokens + case when b.day < excluded.day then 0 else b.tokens end
     where b.day < excluded.day or b.tokens < $3
     returning day::text
   )
   select (select day from taken), greatest(1, ceil(extract(epoch from date_trunc('day', now) + interval '1 day' - now)))::integer as "secondsLeft"
   from clock`,
);
const correctStatement = statement(
  'token-budget.correct',
  `update agents.token_budgets set tokens = greatest(0, tokens + $3) where agent_id = $1 and day = $2::date`,
);
const mostStatement = statement(
  'token-budget.most',
  `select coalesce(max(tokens), 0) as tokens from agents.token_budgets where day = (clock_timestamp() at time zone 'UTC')::date`,
);

/** Takes `tokens` unless the agent has used `limit` already: `day` is the day that they count for, null = refused. */
export async function takeTokens(
  db: Queryable,
  agentId: number,
  tokens: number,
  limit: number,
): Promise<{ day: string | null; secondsLeft: number }> {
  const [row] = await db.query<{ day: string | null; secondsLeft: number }>(takeStatement, [agentId, tokens, limit]);
  return row as { day: string | null; secondsLeft: number };
}

/** Adds `difference` to the tokens of a day, when it is still that day. */
export async function correctTokens(db: Queryable, agentId: number, day: string, difference: number): Promise<void> {
  await db.query(correctStatement, [agentId, day, difference]);
}

/** Tokens that the agent which used most has used today. */
export async function readMostTokens(db: Queryable): Promise<number> {
  const [row] = await db.query<{ tokens: number }>(mostStatement, []);
  return row?.tokens ?? 0;
}
