import { sql, statement, t } from '#libs/sql';

/** Conversations of which something is kept, after this one. */
export const listKnown = statement.many({
  name: 'catch-up.known',
  params: { after: t.integer, limit: t.integer },
  row: { id: t.integer },
  sql: ({ after, limit }) => sql`
    select known.id from (
      (select conversation_id as id from search_conversations where conversation_id > ${after} order by conversation_id limit ${limit})
      union
      (select conversation_id from import_evidence where conversation_id > ${after} order by conversation_id limit ${limit})
      union
      (select conversation_id from legacy_transcripts where conversation_id > ${after} order by conversation_id limit ${limit})
    ) as known order by known.id limit ${limit}`,
});
