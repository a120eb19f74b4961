/** Statements that several features share. */
import { sql, statement, t } from '#libs/sql';

export const listSpeakers = statement.many({
  name: 'speakers.list',
  params: { conversationIds: t.integer.array },
  row: {
    conversationId: t.integer,
    key: t.text,
    number: t.integer.nullable,
    personId: t.integer.nullable,
    displayName: t.text.nullable,
    erased: t.boolean,
  },
  sql: ({ conversationIds }) => sql`
    select conversation_id as "conversationId", speaker_key as key, number, person_id as "personId", display_name as "displayName", erased
    from speakers where conversation_id = any(${conversationIds})`,
});
