/** What the language model cost each agent, by day (UTC) and purpose. Tokens are counted where the model told them. */
import { type Queryable, statement } from '#libs/orm';

export type UsagePurpose = 'chat' | 'memory';

export interface UsageOfCall {
  readonly agentId: number;
  readonly purpose: UsagePurpose;
  readonly failed: boolean;
  /** Undefined when the model told none. */
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
  readonly durationMs: number;
}

const addStatement = statement(
  'usage.add',
  `insert into agents.model_usage as u (agent_id, day, purpose, calls, failed_calls, calls_without_usage, prompt_tokens, completion_tokens, duration_ms)
   values ($1, (clock_timestamp() at time zone 'UTC')::date, $2, 1, $3::integer, $4::integer, $5, $6, $7)
   on conflict (agent_id, day, purpose) do update set
     calls = u.calls + 1,
     failed_calls = u.failed_calls + excluded.failed_calls,
     calls_without_usage = u.calls_without_usage + excluded.calls_without_usage,
     prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
     completion_tokens = u.completion_tokens + excluded.completion_tokens,
     duration_ms = u.duration_ms + excluded.duration_ms`,
);
const listStatement = statement(
  'usage.list',
  `select coalesce(json_agg(row_to_json(rows)), '[]')::text as json from (
     select a.slug, u.day::text as day, u.purpose, u.calls, u.failed_calls, u.calls_without_usage, u.prompt_tokens, u.completion_tokens, u.duration_ms
     from agents.model_usage u join agents.agents a on a.id = u.agent_id
     where ($1::text is null or a.slug = $1) and ($2::date is null or u.day >= $2::date)
     order by u.day desc, a.slug, u.purpose limit $3
   ) rows`,
);

export async function addUsage(db: Queryable, call: UsageOfCall): Promise<void> {
  const untold = call.promptTokens === undefined && call.completionTokens === undefined;
  await db.query(addStatement, [
    call.agentId,
    call.purpose,
    call.failed ? 1 : 0,
    untold ? 1 : 0,
    Math.round(call.promptTokens ?? 0),
    Math.round(call.completionTokens ?? 0),
    Math.round(call.durationMs),
  ]);
}

/** Newest day first, as JSON text. */
export async function renderUsage(
  db: Queryable,
  filter: { slug?: string | undefined; since?: string | undefined; limit: number },
): Promise<string> {
  const [row] = await db.query<{ json: string }>(listStatement, [filter.slug ?? null, filter.since ?? null, filter.limit]);
  return row?.json ?? '[]';
}
