/** Fills a feed with events that callers cannot read. */
import type { TestEnvironment } from '#libs/product/testing';

export interface Filled {
  /** Id of the first conversation. */
  readonly first: number;
  readonly subjects: number;
  /** Participant of the conversations. */
  readonly person: number;
}

/** Adds events of conversations that do not exist, as the feed writer would. */
export async function fillFeed(
  { sql }: Pick<TestEnvironment, 'sql'>,
  count: number,
  { first, subjects, person }: Filled,
): Promise<void> {
  await sql(
    `with head as (select last_position from events.feed_head), added as (
      insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
      select last_position + n, now(), 'filler', $2::bigint + n, gen_random_uuid(), 'conversation.updated', 'conversation', $2::integer + n % $3::integer, '{}', false
      from head, generate_series(1, $1::integer) n
    )
    insert into events.subjects (type, id, known, holons, people, gone, last_position)
    select 'conversation', $2::integer + n, true, '{}', array[$4::integer], false, last_position + $1 from head, generate_series(0, $3::integer - 1) n`,
    [count, first, subjects, person],
  );
  await sql('update events.feed_head set last_position = last_position + $1', [count]);
}
