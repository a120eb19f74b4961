/** The audio of a conversation. */
import { sql, statement, t } from '#libs/sql';

export const findAudio = statement.maybeOne({
  name: 'media.find-audio',
  params: { conversationId: t.integer },
  row: {
    path: t.text,
    name: t.text,
    content_type: t.text,
    size_bytes: t.bigint,
    source: t.text,
    created_at: t.text,
    sha256: t.text,
  },
  sql: ({
    conversationId,
  }) => sql`select object_key as path, name, content_type, size_bytes, source, iso_utc(created_at) as created_at, sha256
    from media.blobs where conversation_id = ${conversationId} and kind = 'audio' and retired_at is null`,
});
