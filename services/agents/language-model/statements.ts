/** Statements on usage of the language model, daily token budgets and thinking habits. */
import { sql, statement, t } from '#libs/infrastructure/sql';

export type UsagePurpose = 'chat' | 'memory';

export const addUsage = statement.none({
  name: 'usage.add',
  params: {
    agentId: t.integer,
    purpose: t.text.as<UsagePurpose>(),
    failed: t.boolean,
    /** The model server reported no tokens. */
    isUnreported: t.boolean,
    promptTokens: t.bigint,
    completionTokens: t.bigint,
    durationMs: t.bigint,
  },
  sql: ({
    agentId,
    purpose,
    failed,
    isUnreported,
    promptTokens,
    completionTokens,
    durationMs,
  }) => sql`insert into agents.model_usage as u
      (agent_id, day, purpose, calls, failed_calls, calls_without_usage, prompt_tokens, completion_tokens, duration_ms)
    values (${agentId}, (clock_timestamp() at time zone 'UTC')::date, ${purpose}, 1, ${failed}::integer, ${isUnreported}::integer,
      ${promptTokens}, ${completionTokens}, ${durationMs})
    on conflict (agent_id, day, purpose) do update set
      calls = u.calls + 1,
      failed_calls = u.failed_calls + excluded.failed_calls,
      calls_without_usage = u.calls_without_usage + excluded.calls_without_usage,
      prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = u.completion_tokens + excluded.completion_tokens,
      duration_ms = u.duration_ms + excluded.duration_ms`,
});

/** Returns the daily usage, newest day first, as JSON text. */
export const renderUsage = statement.one({
  name: 'usage.list',
  params: { slug: t.text.nullable, since: t.date.nullable, limit: t.integer },
  row: { json: t.text },
  sql: ({ slug, since, limit }) => sql`select coalesce(json_agg(row_to_json(rows)), '[]')::text as json from (
      select a.slug, u.day::text as day, u.purpose, u.calls, u.failed_calls, u.calls_without_usage, u.prompt_tokens, u.completion_tokens,
        u.duration_ms
      from agents.model_usage u join agents.agents a on a.id = u.agent_id
      where (${slug} is null or a.slug = ${slug}) and (${since} is null or u.day >= ${since})
      order by u.day desc, a.slug, u.purpose limit ${limit}
    ) rows`,
});

/**
 * Reserves `tokens` unless the agent has used `limit`. Returns the `day` for which the tokens count, or null when
 * rejected: another call may start a new day while this one waits for the row (D71).
 */
export const reserveTokens = statement.one({
  name: 'token-budget.take',
  params: { agentId: t.integer, tokens: t.bigint, limit: t.bigint },
  row: { day: t.text.nullable, secondsLeft: t.integer },
  sql: ({
    agentId,
    tokens,
    limit,
  }) => sql`with clock as (select clock_timestamp() at time zone 'UTC' as now), taken as (
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

/** Adds `difference` to the tokens of `day`, unless a new day has started. */
export const correctTokens = statement.none({
  name: 'token-budget.correct',
  params: { agentId: t.integer, day: t.date, difference: t.bigint },
  sql: ({ agentId, day, difference }) =>
    sql`update agents.token_budgets set tokens = greatest(0, tokens + ${difference}) where agent_id = ${agentId} and day = ${day}`,
});

/** Returns today's highest usage of an agent. */
export const findMaxTokens = statement.one({
  name: 'token-budget.most',
  row: { tokens: t.bigint },
  sql: () => sql`select coalesce(max(tokens), 0) as tokens from agents.token_budgets
    where day = (clock_timestamp() at time zone 'UTC')::date`,
});

export const findPlainReplies = statement.maybeOne({
  name: 'thinking-habits.find',
  params: { model: t.text },
  row: { plainAnswers: t.integer },
  sql: ({ model }) => sql`select plain_answers as "plainAnswers" from agents.thinking_habits where model = ${model}`,
});

/**
 * Counts a reply. The count starts at `initial` for a new model and ends at `max`. Acquires a lock only if the count
 * changes (D84).
 */
export const countPlainReply = statement.none({
  name: 'thinking-habits.count',
  params: { model: t.text, isUnopened: t.boolean, initial: t.integer, max: t.integer },
  sql: ({ model, isUnopened, initial, max }) => sql`insert into agents.thinking_habits as h (model, plain_answers)
    select ${model}, case when ${isUnopened} then 0 else least(${max}, ${initial} + 1) end
    where ${isUnopened} or coalesce((select plain_answers from agents.thinking_habits where model = ${model}), ${initial}) < ${max}
    on conflict (model) do update set plain_answers = case when ${isUnopened} then 0 else least(${max}, h.plain_answers + 1) end`,
});
