/** The audio of a conversation. */
import { type Queryable, statement } from '#libs/orm';
import type { AudioMetadata } from '../schemas.ts';

/** The object in use as the audio of a conversation. */
export interface AudioBlob extends AudioMetadata {
  id: number;
  sha256: string;
}

const audioColumns = `id, object_key as path, name, content_type, size_bytes, source, iso_utc(created_at) as created_at, sha256`;

const findAudioStatement = statement(
  'media.find-audio',
  `select ${audioColumns} from media.blobs where conversation_id = $1 and kind = 'audio' and retired_at is null`,
);

export async function findAudio(db: Queryable, conversationId: number): Promise<AudioBlob | undefined> {
  const [row] = await db.query<AudioBlob>(findAudioStatement, [conversationId]);
  return row;
}
