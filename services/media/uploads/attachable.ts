/** Whether a conversation can take the metadata of a stored audio, asked while nothing has changed yet (D63). */
import { conversations } from '#services/conversations';
import { AppError } from '#libs/errors';
import type { Logger } from '#libs/logger';
import type { Bus, CallContext } from '#libs/nats';
import type { NewFile } from '../file-statements.ts';

type StoredAudio = Pick<NewFile, 'objectKey' | 'name' | 'contentType' | 'sizeBytes' | 'source'>;

/** As long as the time that the database will give it. */
const someInstant = '2026-01-01T00:00:00.000001Z';

/**
 * Asked by the service for itself: an upload may take longer than what vouches for the client lives. A service that is away does not keep an
 * upload from being stored: the job that attaches it asks again.
 * @throws AppError 404, 413 `conversation_data_too_large`
 */
export async function checkAttachable(
  { bus, logger }: { readonly bus: Bus; readonly logger: Logger },
  conversationId: number,
  { objectKey: path, name, contentType: content_type, sizeBytes: size_bytes, source }: StoredAudio,
  { requestId, traceparent }: CallContext,
): Promise<void> {
  const audio = { path, name, content_type, size_bytes, source, created_at: someInstant };
  try {
    await bus.call(conversations.rpcs.checkAudio, { conversation_id: conversationId, audio }, { requestId, traceparent });
  } catch (error) {
    if (!(error instanceof AppError && error.retryable)) throw error;
    logger.warn({ err: error, requestId }, 'whether the audio fits is seen when the job attaches it');
  }
}
