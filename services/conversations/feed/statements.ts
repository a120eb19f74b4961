/** What decides who may read conversations, for what is told of them. */
import { sql, statement, t } from '#libs/sql';

/** Those that are deleted are left out. */
export const listAccess = statement.many({
  name: 'feed.list-access',
  params: { ids: t.integer.array },
  row: { id: t.integer, event_id: t.integer.nullable, participants: t.text },
  sql: ({ ids }) => sql`select c.id, c.event_id, c.participant_ids::text as participants
    from conversations.conversations c where c.id = any(${ids}) order by c.id`,
});
