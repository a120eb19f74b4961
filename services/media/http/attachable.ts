/** Whether a conversation can take the metadata of a stored audio, asked while nothing has changed yet (D63). */
import { conversations } from '#services/conversations';
import type { Bus, CallContext } from '#libs/nats';
import type { NewFile } from '../repositories/files.ts';

type StoredAudio = Pick<NewFile, 'objectKey' | 'name' | 'contentType' | 'sizeBytes' | 'source'>;

/** As long as the time that the database will give it. */
const someInstant = '2026-01-01T00:00:00.000001Z';

/** @throws AppError 404, 413 `conversation_data_too_large` */
export async function checkAttachable(
  { bus }: { readonly bus: Bus },
  conversationId: number,
  { objectKey: path, name, contentType: content_type, sizeBytes: size_bytes, source }: StoredAudio,
  context: CallContext,
): Promise<void> {
  const audio = { path, name, content_type, size_bytes, source, created_at: someInstant };
  await bus.call(conversations.rpcs.checkAudio, { conversation_id: conversationId, audio }, { ...context, deadlineMs: undefined });
}
