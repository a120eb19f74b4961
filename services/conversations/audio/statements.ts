/** Statements on `infos.audio`. */
import { sql, statement, t } from '#libs/sql';
import { nextUpdatedAt } from '../statements.ts';

/** Sets `infos.audio` unless the same or a newer blob is attached; `attached`: it was set. No row: absent. */
export const setAudio = statement.maybeOne({
  name: 'conversations.attach-audio',
  params: { id: t.integer, blobId: t.integer, audio: t.json },
  row: { id: t.integer, attached: t.boolean },
  sql: ({ id, blobId, audio }) => sql`
    with done as (
      update conversations.conversations c
      set infos = c.infos || jsonb_build_object('audio', ${audio}), audio_blob_id = ${blobId}, updated_at = ${nextUpdatedAt}
      where c.id = ${id} and coalesce(c.audio_blob_id, 0) < ${blobId} returning c.id
    )
    select c.id, exists (select from done) as attached from conversations.conversations c where c.id = ${id}`,
});

/** Bytes of `infos` with this audio. No row: absent. */
export const measureWithAudio = statement.maybeOne({
  name: 'conversations.measure-with-audio',
  params: { id: t.integer, audio: t.json },
  row: { bytes: t.integer },
  sql: ({ id, audio }) => sql`
    select octet_length((c.infos || jsonb_build_object('audio', ${audio}))::text) as bytes
    from conversations.conversations c where c.id = ${id}`,
});
