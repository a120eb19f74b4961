/**
 * The chat's rate limit, shared by all replicas: the times of the admitted messages of the last minute, changed under one row
 * lock, so that parallel messages are counted exactly.
 */
import { sql, statement, t } from '#libs/sql';

/** Counts a message under `key` unless `limit` messages were admitted in the last minute; `retryAfter` in seconds. */
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
        from unnest(c.hit_at) as kept (at)
        where at <> 'infinity' and at > statement_timestamp() - interval '1 minute'
      )
    returning not ('infinity' = any (hit_at)) as admitted, greatest(1, ceil(extract(epoch from
      hit_at[greatest(1, cardinality(hit_at) - ${limit})] + interval '1 minute' - clock_timestamp())))::integer as "retryAfter"`,
});
