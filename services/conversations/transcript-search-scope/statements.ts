/** Statements for the search in transcripts. */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { conversationSummary, titleSource } from '../statements.ts';

/** Returns the events that own a conversation, with one index look-up per event. */
export const listEvents = statement.many({
  name: 'spoken.events',
  row: { id: t.integer },
  sql: () => sql`
    with recursive events as (
      (select event_id from conversations.conversations where event_id is not null order by event_id limit 1)
      union all
      select (select c.event_id from conversations.conversations c where c.event_id > e.event_id order by c.event_id limit 1)
      from events e where e.event_id is not null
    )
    select event_id as id from events where event_id is not null`,
});

export const listCited = statement.many({
  name: 'spoken.cite',
  params: { ids: t.integer.array },
  row: { ...conversationSummary.row, ...titleSource.row },
  sql: ({ ids }) =>
    sql`select ${conversationSummary.columns}, ${titleSource.columns} from conversations.conversations c where c.id = any(${ids})`,
});

export const listFacts = statement.many({
  name: 'spoken.facts',
  params: { ids: t.integer.array },
  row: {
    id: t.integer,
    start: t.text.nullable,
    event_id: t.integer.nullable,
    journey_id: t.integer.nullable,
    participants: t.text,
    updated_at: t.text,
  },
  sql: ({
    ids,
  }) => sql`select c.id, iso_utc(c.start_at) as start, c.event_id, c.journey_id, c.participant_ids::text as participants,
      iso_utc(c.updated_at) as updated_at
    from conversations.conversations c where c.id = any(${ids})`,
});
