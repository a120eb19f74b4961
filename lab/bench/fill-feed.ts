/** Fills the feed with events, most of which one account cannot see. Used by measurements and query plan tests. */

export interface FeedSizes {
  readonly days: number;
  readonly eventsPerDay: number;
  /** Conversations of other participants, and the same number of memberships in private holons. */
  readonly hiddenSubjects: number;
  /** Ids of the conversations that the account can see; 1 % of all events belong to them. */
  readonly seen: readonly number[];
  /** Id of a private holon. */
  readonly hiddenHolon: number;
  readonly personId: number;
}

type Run = (text: string, params?: readonly unknown[]) => Promise<unknown>;

/** First id of subjects that do not exist. */
const firstHidden = 10_000_000;
/** One event out of this many belongs to a conversation that the account can see. */
const everySeen = 1_000;

/** @param run executes SQL as the owner of the schema */
export async function fillFeed(
  run: Run,
  { days, eventsPerDay, hiddenSubjects, seen, hiddenHolon, personId }: FeedSizes,
): Promise<void> {
  await run(
    `select events.add_feed_day(day::date) from generate_series((now() at time zone 'UTC')::date - $1::integer, (now() at time zone 'UTC')::date + 2, interval '1 day') as day`,
    [days],
  );
  const [first] = (await run('select last_position from events.feed_head')) as { last_position: string }[];
  const begin = Number(first?.last_position ?? 0);
  for (let day = 0; day < days; day++) {
    await run(
      `insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
       select $1::bigint + n, now() - ($2::integer * interval '1 day') + n * (interval '20 hours' / $3::integer), 'filler', $1::bigint + n, gen_random_uuid(),
         case when n % $4 = 0 or n % 3 > 0 then 'conversation.updated' when n % 30 = 3 then 'membership.created' else 'membership.updated' end,
         case when n % $4 = 0 or n % 3 > 0 then 'conversation' else 'membership' end,
         case when n % $4 = 0 then ($5::integer[])[1 + (n / $4) % cardinality($5::integer[])] else $6 + (n * 7919::bigint) % $7 end, '{}', false
       from generate_series(1, $3::integer) n`,
      [begin + day * eventsPerDay, days - day, eventsPerDay, everySeen, seen, firstHidden, hiddenSubjects],
    );
  }
  const last = begin + days * eventsPerDay;
  await run(
    `insert into events.subjects (type, id, known, holons, people, gone, last_position)
     select kind.type, $1 + n, true, case when kind.type = 'membership' then array[$2::integer] else '{}'::integer[] end,
       case when kind.type = 'membership' then '{}'::integer[] else array[20000000 + n] end, false, $3::bigint - n % 1000
     from generate_series(0, $4::integer - 1) n, (values ('conversation'), ('membership')) kind (type)
     on conflict do nothing`,
    [firstHidden, hiddenHolon, last, hiddenSubjects],
  );
  await run(
    `insert into events.subjects (type, id, known, holons, people, gone, last_position)
     select 'conversation', id, true, '{}', array[$2::integer], false, $3::bigint from unnest($1::integer[]) id
     on conflict (type, id) do update set last_position = excluded.last_position, people = excluded.people, known = true`,
    [seen, personId, last],
  );
  await run('update events.feed_head set last_position = $1', [last]);
  await run('analyze events.feed');
  await run('analyze events.subjects');
}
