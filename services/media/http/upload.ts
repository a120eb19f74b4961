/** POST …/audio: from the socket to the object store in constant memory (rules/media#audio-upload; D27). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { conversations } from '#services/conversations';
import { AppError, notFound, unavailable } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import type { Bus, CallContext } from '#libs/nats';
import type { ObjectStore } from '#libs/object-store';
import { maxAudioBytes, media, type AudioMetadata, type StoredFile } from '../contract.ts';
import { describeAudioFile, invalidAudio, newAudioKey } from '../domain/audio-file.ts';
import { isConversationDeleted, lockConversation, replaceAudio, type AudioBlob, type NewAudio } from '../repositories/blobs.ts';
import { endUpload } from '../repositories/uploads.ts';
import { discardUpload, openLease, type LeaseDependencies, type StoreLease } from './lease.ts';
import { acceptImport, readImport } from './import-file.ts';
import { checkAttachable } from './attachable.ts';
import { receiveFile } from './multipart.ts';
import { sendJson } from './replies.ts';

export interface UploadDependencies extends LeaseDependencies {
  bus: Bus;
  jobs: Jobs;
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

export interface UploadHandler {
  /** POST …/audio. */
  handle(upload: UploadRequest): Promise<void>;
  /** PUT of a file of the bulk import. */
  handleImport(upload: UploadRequest, kind: StoredFile['kind'], query: URLSearchParams): Promise<void>;
  /** Uploads under way. */
  readonly running: number;
  /** Breaks off what still runs. */
  stop(): void;
}

/** Serves uploads. */
export function createUploadHandler(deps: UploadDependencies): UploadHandler {
  const stopping = new AbortController();
  let running = 0;
  const answer = async ({ request, response }: UploadRequest, accept: () => Promise<unknown>): Promise<void> => {
    if (running >= deps.maxUploads) throw unavailable('Too many uploads at the same time');
    running += 1;
    try {
      await sendJson(request, response, 201, await accept());
    } finally {
      running -= 1;
    }
  };
  return {
    get running() {
      return running;
    },
    stop: () => stopping.abort(unavailable('The service is stopping')),
    handle: (upload) => answer(upload, () => acceptAudio(deps, upload, stopping.signal)),
    handleImport: (upload, kind, query) => answer(upload, () => acceptImport(deps, upload, readImport(kind, query), stopping.signal)),
  };
}

async function acceptAudio(deps: UploadDependencies, upload: UploadRequest, stopping: AbortSignal): Promise<AudioMetadata> {
  const { conversationId, context } = upload;
  await deps.bus.call(conversations.rpcs.exists, { id: conversationId }, context);
  const form = { part: 'audio', maxFileBytes: maxAudioBytes, tooLarge: () => invalidAudio('The audio file is larger than 500 MiB.') };
  const lease: { current?: StoreLease } = {};
  try {
    const stored = await receiveFile(upload.request, form, async ({ fileName, body }) => {
      const file = describeAudioFile(fileName);
      const objectKey = newAudioKey(conversationId, file.extension);
      lease.current = await openLease(deps, objectKey);
      const signal = AbortSignal.any([stopping, lease.current.lost]);
      const { sizeBytes, sha256 } = await deps.store.putStream(objectKey, rejectEmpty(body), { contentType: file.contentType, signal });
      return { objectKey, name: file.name, contentType: file.contentType, sizeBytes, sha256 };
    });
    await checkAttachable(deps, conversationId, { ...stored, source: 'upload' }, context);
    const { actor } = context;
    const actorIds =
      actor?.kind === 'user' ? { accountId: actor.accountId, personId: actor.personId } : { accountId: null, personId: null };
    const blob = await commitAudio(deps, { ...stored, ...actorIds, conversationId }, context);
    lease.current?.close();
    return blob;
  } catch (error) {
    if (lease.current !== undefined) await discardUpload(deps, lease.current);
    throw error;
  }
}

/** An empty file is refused (rules/media#audio-upload). Failing inside the body keeps the object from being made at all. */
async function* rejectEmpty(body: Readable): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of body) {
    if (empty && (chunk as Uint8Array).byteLength > 0) empty = false;
    yield chunk as Uint8Array;
  }
  if (empty) throw invalidAudio('The audio file is empty.');
}

/**
 * Makes the stored object the conversation's audio and tells the conversation. The record, the retirement of the previous
 * file and the durable attachment are one transaction; blob ids rise in the order of these transactions, so that the last
 * finished of concurrent uploads wins on both sides.
 */
async function commitAudio(deps: UploadDependencies, audio: NewAudio, context: CallContext): Promise<AudioMetadata> {
  const { requestId, traceparent } = context;
  const origin = { requestId, traceparent };
  const { blob, attachment } = await deps.jobs.transaction(async (tx) => {
    await lockConversation(tx, audio.conversationId);
    if (await isConversationDeleted(tx, audio.conversationId)) throw notFound();
    if (!(await endUpload(tx, audio.objectKey))) throw unavailable('The upload took too long without a sign of life');
    const { current, retiredIds } = await replaceAudio(tx, audio);
    for (const blobId of retiredIds) {
      await deps.jobs.enqueue(
        tx,
        media.jobs.deleteBlob,
        { blob_id: blobId },
        { ...origin, key: `blob-${blobId}`, delayMs: deps.graceSeconds * 1000 },
      );
    }
    const payload = {
      conversation_id: audio.conversationId,
      blob_id: current.id,
      audio: toMetadata(current),
      actor_account_id: audio.accountId,
      actor_person_id: audio.personId,
    };
    await deps.jobs.enqueue(tx, conversations.jobs.attachAudio, payload, { ...origin, delayMs: attachFallbackMs });
    return { blob: current, attachment: payload };
  });
  try {
    // The service's own doing: an upload may take longer than what vouched for the client lives.
    await deps.bus.call(conversations.rpcs.attachAudio, attachment, origin);
  } catch (error) {
    // Deleted in the meantime: its clean-up takes the file along.
    if (error instanceof AppError && error.code === 'not_found') throw error;
    deps.logger.warn({ err: error, requestId }, 'audio will be attached by the job');
  }
  return toMetadata(blob);
}

export function toMetadata({ path, name, content_type, size_bytes, source, created_at }: AudioBlob): AudioMetadata {
  return { path, name, content_type, size_bytes, source, created_at };
}
