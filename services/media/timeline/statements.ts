/** Statements of the timeline (W9). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns uploaded audio and recordings, also replaced ones, newest first. */
export const listUploads = statement.many({
  name: 'timeline.uploads',
  params: { conversationId: t.integer, limit: t.integer },
  row: { id: t.integer, kind: t.text, size_bytes: t.bigint, account_id: t.integer.nullable, at: t.text },
  sql: ({ conversationId, limit }) => sql`
    select id, kind, size_bytes, created_by_account_id as account_id, iso_utc(created_at) as at from media.blobs
    where conversation_id = ${conversationId} and kind in ('audio', 'recording_full', 'recording_front_trimmed')
    order by id desc limit ${limit}`,
});
