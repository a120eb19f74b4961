/** Statements on `infos.audio`. */
import { statement } from '#libs/orm';
import { nextUpdatedAt } from '../statements.ts';

/**
 * Sets `infos.audio` ($3) unless the same or a newer blob ($2) is attached; the last column tells whether this call did it.
 * No row: absent.
 */
export const attachAudio = statement(
  'conversations.attach-audio',
  `with done as (
     update conversations.conversations c
     set infos = c.infos || jsonb_build_object('audio', $3::jsonb), audio_blob_id = $2, updated_at = ${nextUpdatedAt}
     where c.id = $1 and coalesce(c.audio_blob_id, 0) < $2
     returning c.id
   )
   select c.id, exists (select from done) as attached from conversations.conversations c where c.id = $1`,
);

/** Bytes of `infos` with this audio ($2). */
export const measureWithAudio = statement(
  'conversations.measure-with-audio',
  `select octet_length((c.infos || jsonb_build_object('audio', $2::jsonb))::text) as bytes
   from conversations.conversations c where c.id = $1`,
);
