/** PUT of one file of the bulk import (rules/workspace#bulk-import): its bytes go to the object store in constant memory and replace what was there. */
import type { IncomingMessage } from 'node:http';
import { conversations } from '#services/conversations';
import { AppError, notFound, unavailable } from '#libs/errors';
import type { CallContext } from '#libs/nats';
import { countTransferred } from '#libs/transfer';
import { maxAudioBytes, maxRecordingBytes, media, type StoredFile } from '../contract.ts';
import { describeAudioFile, invalidAudio, newAudioKey } from '../domain/audio-file.ts';
import { describeRecordingFile, newRecordingKey } from '../domain/recording.ts';
import { isConversationDeleted, lockConversation } from '../repositories/blobs.ts';
import { blobKindOf, replaceFile, type NewFile } from '../repositories/files.ts';
import { endUpload } from '../repositories/uploads.ts';
import { checkAttachable } from './attachable.ts';
import { discardUpload, openLease } from './lease.ts';
import { ClientGone } from './multipart.ts';
import type { UploadDependencies, UploadRequest } from './upload.ts';

/** Where imported files came from (`infos.audio.source`). */
const importSource = 'import';

export interface ImportedFile {
  readonly kind: StoredFile['kind'];
  readonly name: string;
  readonly extension: string;
  readonly contentType: string;
  readonly finalized: boolean;
  /** False: `infos.audio` was given by the import itself. */
  readonly attach: boolean;
}

/** What the request's query says of the file. @throws AppError `invalid_conversation_audio`; 400 without a name */
export function readImport(kind: StoredFile['kind'], query: URLSearchParams): ImportedFile {
  const given = query.get('name') ?? '';
  if (given === '') throw new AppError({ code: 'bad_request', message: 'The query needs the name of the file' });
  const file = kind === 'audio' ? describeAudioFile(given) : describeRecordingFile(given);
  return { ...file, kind, finalized: query.get('finalized') === 'true', attach: query.get('attach') !== 'false' };
}

/** Stores the body of the request as the conversation's file. @throws AppError 400, 404, 503; nothing is changed then. */
export async function acceptImport(
  deps: UploadDependencies,
  { request, conversationId, context }: UploadRequest,
  file: ImportedFile,
  stopping: AbortSignal,
): Promise<{ sha256: string; size_bytes: number }> {
  await deps.bus.call(conversations.rpcs.exists, { id: conversationId }, context);
  const newKey = file.kind === 'audio' ? newAudioKey : newRecordingKey;
  const lease = await openLease(deps, newKey(conversationId, file.extension));
  const { objectKey } = lease;
  try {
    const signal = AbortSignal.any([stopping, lease.lost]);
    const stored = await deps.store.putStream(objectKey, readBody(request, file.kind), { contentType: file.contentType, signal });
    const { name, contentType, finalized } = file;
    const record = {
      kind: blobKindOf(file.kind),
      conversationId,
      objectKey,
      name,
      contentType,
      ...stored,
      source: importSource,
      finalized,
    };
    if (file.kind === 'audio' && file.attach) await checkAttachable(deps, conversationId, record, context);
    await commitFile(deps, record, file.attach, context);
    lease.close();
    return { sha256: stored.sha256, size_bytes: stored.sizeBytes };
  } catch (error) {
    await discardUpload(deps, lease);
    throw error;
  }
}

/** The body's bytes; fails when it is empty, too large or breaks off. */
async function* readBody(request: IncomingMessage, kind: StoredFile['kind']): AsyncGenerator<Uint8Array> {
  const limit = kind === 'audio' ? maxAudioBytes : maxRecordingBytes;
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > limit) throw refusal(kind, `The file is larger than ${limit} bytes.`);
      countTransferred(chunk.byteLength);
      yield chunk;
    }
  } catch (error) {
    throw request.complete || error instanceof AppError ? error : new ClientGone();
  }
  if (size === 0) throw refusal(kind, 'The file is empty.');
}

function refusal(kind: StoredFile['kind'], message: string): AppError {
  return kind === 'audio' ? invalidAudio(message) : new AppError({ code: 'bad_request', message });
}

/** Makes the object the conversation's file; what it replaces is removed after the grace period, and audio is attached. */
async function commitFile(deps: UploadDependencies, file: NewFile, attach: boolean, context: CallContext): Promise<void> {
  const origin = { requestId: context.requestId, traceparent: context.traceparent };
  const attachment = await deps.jobs.transaction(async (tx) => {
    await lockConversation(tx, file.conversationId);
    if (await isConversationDeleted(tx, file.conversationId)) throw notFound();
    if (!(await endUpload(tx, file.objectKey))) throw unavailable('The upload took too long without a sign of life');
    const { id, createdAt, retiredIds } = await replaceFile(tx, file);
    for (const blobId of retiredIds) {
      const when = { ...origin, key: `blob-${blobId}`, delayMs: deps.graceSeconds * 1000 };
      await deps.jobs.enqueue(tx, media.jobs.deleteBlob, { blob_id: blobId }, when);
    }
    if (file.kind !== 'audio' || !attach) return undefined;
    const { objectKey: path, name, contentType: content_type, sizeBytes: size_bytes, source } = file;
    const payload = {
      conversation_id: file.conversationId,
      blob_id: id,
      audio: { path, name, content_type, size_bytes, source, created_at: createdAt },
      actor_account_id: null,
      actor_person_id: null,
      note: false,
    };
    await deps.jobs.enqueue(tx, conversations.jobs.attachAudio, payload, { ...origin, delayMs: 10_000 });
    return payload;
  });
  if (attachment === undefined) return;
  try {
    await deps.bus.call(conversations.rpcs.attachAudio, attachment, origin);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw error;
    deps.logger.warn({ err: error, requestId: context.requestId }, 'audio will be attached by the job');
  }
}
