/** What the language model cost each agent, by day (UTC) and purpose. Tokens are counted where the model reported them. */
import { sql, statement, t } from '#libs/sql';

export type UsagePurpose = 'chat' | 'memory';

/** Adds one call. */
export const addUsage = statement.none({
  name: 'usage.add',
  params: {
    agentId: t.integer,
    purpose: t.text.as<UsagePurpose>(),
    failed: t.boolean,
    /** The model reported no tokens. */
    isUnreported: t.boolean,
    promptTokens: t.bigint,
    completionTokens: t.bigint,
    durationMs: t.bigint,
  },
  sql: ({ agentId, purpose, failed, isUnreported, promptTokens, completionTokens, durationMs }) => sql`insert into agents.model_usage as u
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

/** Newest day first, as JSON text. */
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
