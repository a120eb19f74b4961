/** What each agent has used of its tokens of the day (UTC), one row per agent, for all replicas together (D71). */
import { sql, statement, t } from '#libs/sql';

/**
 * Takes `tokens` unless the agent has used `limit` already: `day` is the day that they count for, null = refused. A call waits for the row and
 * may find that another has begun the next day meanwhile.
 */
export const reserveTokens = statement.one({
  name: 'token-budget.take',
  params: { agentId: t.integer, tokens: t.bigint, limit: t.bigint },
  row: { day: t.text.nullable, secondsLeft: t.integer },
  sql: ({ agentId, tokens, limit }) => sql`with clock as (select clock_timestamp() at time zone 'UTC' as now), taken as (
      insert into agents.token_budgets as b (agent_id, day, tokens) select ${agentId}, now::date, ${tokens} from clock
      on conflict (agent_id) do update set
        day = greatest(b.day, excluded.day), tokens = excluded.tokens + case when b.day < excluded.day then 0 else b.tokens end
      where b.day < excluded.day or b.tokens < ${limit}
      returning day::text
    )
    select (select day from taken),
      greatest(1, ceil(extract(epoch from date_trunc('day', now) + interval '1 day' - now)))::integer as "secondsLeft"
    from clock`,
});

/** Adds `difference` to the tokens of a day, when it is still that day. */
export const correctTokens = statement.none({
  name: 'token-budget.correct',
  params: { agentId: t.integer, day: t.date, difference: t.bigint },
  sql: ({ agentId, day, difference }) =>
    sql`update agents.token_budgets set tokens = greatest(0, tokens + ${difference}) where agent_id = ${agentId} and day = ${day}`,
});

/** Tokens that the agent which used most has used today. */
export const findMaxTokens = statement.one({
  name: 'token-budget.most',
  row: { tokens: t.bigint },
  sql: () => sql`select coalesce(max(tokens), 0) as tokens from agents.token_budgets
    where day = (clock_timestamp() at time zone 'UTC')::date`,
});
