/** Makes a stored object the file of its conversation, and attaches audio to the conversation. */
import { conversations } from '#services/conversations';
import { AppError, notFound } from '#libs/infrastructure/errors';
import type { CallContext } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { type FileRecord, findDeleted, lockConversation, replaceFile, scheduleBlobDeletion } from '../files.ts';
import { recordingFeed } from '../recording/contract.ts';
import type { AudioMetadata } from '../schemas.ts';
import { finishUpload, uploadExpired } from '../upload-leases/index.ts';

export type UploadDependencies = Pick<
  Dependencies,
  'config' | 'db' | 'bus' | 'jobs' | 'eventOutbox' | 'store' | 'logger' | 'requestSweep'
>;

/** Delay of the job that attaches the audio. The job does nothing when the direct call succeeded. */
const attachFallbackDelayMs = 10_000;
/** Timestamp with the same length as the one that the database will store. */
const placeholderInstant = '2026-01-01T00:00:00.000001Z';

/**
 * Checks, before any change, that the conversation can store the metadata of the audio (D63). The call uses the
 * service's own account, because an upload can outlive the client's assertion. When the conversations service is
 * unavailable, the job that attaches the audio checks it again.
 * @throws AppError 404, 413 `conversation_data_too_large`
 */
export async function checkAudioFits(
  { bus, logger }: Pick<Dependencies, 'bus' | 'logger'>,
  conversationId: number,
  audioFile: Pick<FileRecord, 'objectKey' | 'name' | 'contentType' | 'sizeBytes' | 'source'>,
  { requestId, traceparent }: CallContext,
): Promise<void> {
  const { objectKey: path, name, contentType: content_type, sizeBytes: size_bytes, source } = audioFile;
  const audio = { path, name, content_type, size_bytes, source, created_at: placeholderInstant };
  try {
    await bus.call(
      conversations.rpcs.checkAudio,
      { conversation_id: conversationId, audio },
      { requestId, traceparent },
    );
  } catch (error) {
    if (!(error instanceof AppError && error.retryable)) throw error;
    logger.warn({ err: error, requestId }, 'failed to check whether the audio fits, leaving the check to the job');
  }
}

/**
 * Stores the record, retires the previous file and enqueues the attachment in one transaction. Blob ids ascend in
 * commit order, so that the last of several concurrent uploads wins in both services.
 * @param attach options for attaching audio to the conversation; undefined does not attach it
 * @throws AppError 404 when the conversation is deleted, 503 when the lease of the upload expired
 */
export async function commitFile(
  deps: UploadDependencies,
  file: FileRecord,
  attach: { readonly note?: false } | undefined,
  { requestId, traceparent }: CallContext,
): Promise<AudioMetadata> {
  const origin = { requestId, traceparent };
  const { metadata, attachment } = await deps.jobs.transaction(async (tx) => {
    await lockConversation(tx, file);
    if ((await findDeleted(tx, file)) !== undefined) throw notFound();
    if ((await finishUpload(tx, file)) === undefined) throw uploadExpired();
    const { id, createdAt, retiredIds } = await replaceFile(tx, file);
    await scheduleBlobDeletion(deps, tx, retiredIds, origin);
    if (file.kind !== 'audio')
      deps.eventOutbox.add(tx, recordingFeed.available, { subject: file.conversationId, data: {} });
    const { objectKey: path, name, contentType: content_type, sizeBytes: size_bytes, source } = file;
    const audio = { path, name, content_type, size_bytes, source, created_at: createdAt };
    if (attach === undefined) return { metadata: audio, attachment: undefined };
    const payload = {
      conversation_id: file.conversationId,
      blob_id: id,
      audio,
      actor_account_id: file.accountId ?? null,
      actor_person_id: file.personId ?? null,
      ...attach,
    };
    await deps.jobs.enqueue(tx, conversations.jobs.attachAudio, payload, { ...origin, delayMs: attachFallbackDelayMs });
    return { metadata: audio, attachment: payload };
  });
  if (attachment === undefined) return metadata;
  try {
    // The call uses the service's own account, because an upload can outlive the client's assertion.
    await deps.bus.call(conversations.rpcs.attachAudio, attachment, origin);
  } catch (error) {
    // The conversation was deleted meanwhile, and the jobs of its deletion delete the file.
    if (error instanceof AppError && error.code === 'not_found') throw error;
    deps.logger.warn({ err: error, requestId }, 'failed to attach the audio, leaving it to the job');
  }
  return metadata;
}
