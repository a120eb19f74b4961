/** Makes a stored object the file of its conversation; audio is attached to the conversation then. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { conversations } from '#services/conversations';
import { AppError, notFound, unavailable } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import type { Bus, CallContext } from '#libs/nats';
import type { ObjectStore } from '#libs/object-store';
import { deleteLater } from '../delete-later.ts';
import { findDeleted, lockConversation, type NewFile } from '../file-statements.ts';
import { recordingFeed } from '../recording/contract.ts';
import { replaceFile } from '../replace-file.ts';
import type { AudioMetadata } from '../schemas.ts';
import { endUpload, type LeaseDependencies } from '../upload-leases/index.ts';

export interface UploadDependencies extends LeaseDependencies {
  bus: Bus;
  jobs: Jobs;
  eventOutbox: EventOutbox;
  store: ObjectStore;
  /** Uploads at the same time; more are answered 503. */
  maxUploads: number;
  /** Time that a replaced file is kept. */
  graceSeconds: number;
}

export interface UploadRequest {
  request: IncomingMessage;
  response: ServerResponse;
  conversationId: number;
  context: CallContext;
}

/** Delay of the durable attachment, which finds its work done when the direct call has succeeded. */
const attachFallbackMs = 10_000;

/**
 * The record, the retirement of the previous file and the durable attachment are one transaction; blob ids rise in the order of these
 * transactions, so that the last finished of concurrent uploads wins on both sides.
 * @param attach how audio is attached to the conversation; undefined = not at all
 * @throws AppError 404 when the conversation is deleted, 503 when the sweep has taken the upload for dead
 */
export async function commitFile(
  deps: UploadDependencies,
  file: NewFile,
  attach: { readonly note?: false } | undefined,
  { requestId, traceparent }: CallContext,
): Promise<AudioMetadata> {
  const origin = { requestId, traceparent };
  const { metadata, attachment } = await deps.jobs.transaction(async (tx) => {
    await lockConversation(tx, file);
    if ((await findDeleted(tx, file)) !== undefined) throw notFound();
    if ((await endUpload(tx, file)) === undefined) throw unavailable('The upload took too long without a sign of life');
    const { id, createdAt, retiredIds } = await replaceFile(tx, file);
    await deleteLater(deps, tx, retiredIds, origin);
    if (file.kind !== 'audio') deps.eventOutbox.add(tx, recordingFeed.available, { subject: file.conversationId, data: {} });
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
    await deps.jobs.enqueue(tx, conversations.jobs.attachAudio, payload, { ...origin, delayMs: attachFallbackMs });
    return { metadata: audio, attachment: payload };
  });
  if (attachment === undefined) return metadata;
  try {
    // The service's own doing: an upload may take longer than what vouched for the client lives.
    await deps.bus.call(conversations.rpcs.attachAudio, attachment, origin);
  } catch (error) {
    // Deleted in the meantime: its clean-up takes the file along.
    if (error instanceof AppError && error.code === 'not_found') throw error;
    deps.logger.warn({ err: error, requestId }, 'audio will be attached by the job');
  }
  return metadata;
}
