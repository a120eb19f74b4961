/** Statements for operators. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import { titleSource } from '../statements.ts';

/** Columns of a conversation in a list. */
const listedRow = {
  id: t.integer,
  ...titleSource.row,
  journey_id: t.integer.nullable,
  step_id: t.integer.nullable,
  event_id: t.integer.nullable,
  participants: t.text,
  start: t.timestamp.nullable,
  finish: t.timestamp.nullable,
  updated_at: t.timestamp,
};
export type ListedRow = RowOf<typeof listedRow>;

/** Returns conversations, newest first. A filter that is null matches all conversations. */
export const listConversations = statement.many({
  name: 'conversations.list-all',
  params: {
    journeyId: t.integer.nullable,
    eventId: t.integer.nullable,
    personId: t.integer.nullable,
    since: t.instant.nullable,
    until: t.instant.nullable,
    before: t.integer.nullable,
    limit: t.integer,
  },
  row: listedRow,
  sql: ({ journeyId, eventId, personId, since, until, before, limit }) => sql`
    select c.id, ${titleSource.columns}, c.journey_id, c.step_id, c.event_id, c.participant_ids::text as participants,
      c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish, c.updated_at at time zone 'UTC' as updated_at
    from conversations.conversations c
    where (${journeyId} is null or c.journey_id = ${journeyId}) and (${eventId} is null or c.event_id = ${eventId})
      and (${personId} is null or c.participant_ids @> array[${personId}])
      and (${since} is null or c.start_at >= ${since}) and (${until} is null or c.start_at < ${until})
      and (${before} is null or c.id < ${before})
    order by c.id desc limit ${limit}`,
});
