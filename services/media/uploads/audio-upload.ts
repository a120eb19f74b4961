/** Uploads audio from the client to the object store, in constant memory (rules/media#audio-upload; D27). */
import type { Readable } from 'node:stream';
import { conversations } from '#services/conversations';
import { unavailable } from '#libs/infrastructure/errors';
import { type Exchange, receiveFile, sendJson } from '../http/index.ts';
import type { AudioMetadata, StoredFile } from '../schemas.ts';
import { acquireUploadLease, discardUpload, type UploadLease } from '../upload-leases/index.ts';
import { acceptImport, readImport } from './bulk-import.ts';
import { checkAudioFits, commitFile, type UploadDependencies } from './commit-file.ts';
import { maxAudioBytes } from './contract.ts';
import { describeAudioFile, invalidAudio, newAudioKey } from './rules.ts';

export interface Uploads {
  uploadAudio(exchange: Exchange, conversationId: number): Promise<void>;
  /** Receives the PUT of one file of the bulk import. */
  importFile(
    exchange: Exchange,
    conversationId: number,
    kind: StoredFile['kind'],
    query: URLSearchParams,
  ): Promise<void>;
  countRunning(): number;
  /** Aborts the running uploads. */
  abort(): void;
}

export function createUploads(deps: UploadDependencies): Uploads {
  const stopping = new AbortController();
  let running = 0;
  const handleUpload = async ({ request, response }: Exchange, accept: () => Promise<unknown>): Promise<void> => {
    if (running >= deps.config.MEDIA_MAX_UPLOADS) throw unavailable('Too many uploads at the same time');
    running += 1;
    try {
      await sendJson(request, response, 201, await accept());
    } finally {
      running -= 1;
    }
  };
  return {
    uploadAudio: (exchange, conversationId) =>
      handleUpload(exchange, () => acceptAudio(deps, exchange, conversationId, stopping.signal)),
    importFile: (exchange, conversationId, kind, query) =>
      handleUpload(exchange, () =>
        acceptImport(deps, exchange, conversationId, readImport(kind, query), stopping.signal),
      ),
    countRunning: () => running,
    abort: () => stopping.abort(unavailable('The service is stopping')),
  };
}

async function acceptAudio(
  deps: UploadDependencies,
  { request, context }: Exchange,
  conversationId: number,
  stopping: AbortSignal,
): Promise<AudioMetadata> {
  await deps.bus.call(conversations.rpcs.exists, { id: conversationId }, context);
  const form = {
    part: 'audio',
    maxFileBytes: maxAudioBytes,
    tooLarge: () => invalidAudio('The audio file is larger than 500 MiB.'),
  };
  const lease: { current?: UploadLease } = {};
  try {
    const stored = await receiveFile(request, form, async ({ fileName, body }) => {
      const file = describeAudioFile(fileName);
      const objectKey = newAudioKey(conversationId, file.extension);
      lease.current = await acquireUploadLease(deps, objectKey);
      const signal = AbortSignal.any([stopping, lease.current.lost]);
      const { sizeBytes, sha256 } = await deps.store.putStream(objectKey, rejectEmpty(body), {
        contentType: file.contentType,
        signal,
      });
      return { objectKey, name: file.name, contentType: file.contentType, sizeBytes, sha256 };
    });
    await checkAudioFits(deps, conversationId, { ...stored, source: 'upload' }, context);
    const { actor } = context;
    const actorIds =
      actor?.kind === 'user'
        ? { accountId: actor.accountId, personId: actor.personId }
        : { accountId: null, personId: null };
    const file = { ...stored, ...actorIds, kind: 'audio', conversationId, source: 'upload', finalized: false } as const;
    const metadata = await commitFile(deps, file, {}, context);
    lease.current?.close();
    return metadata;
  } catch (error) {
    if (lease.current !== undefined) await discardUpload(deps, lease.current);
    throw error;
  }
}

/**
 * Passes the body on and rejects an empty file within the stream, so that no object is created
 * (rules/media#audio-upload).
 */
async function* rejectEmpty(body: Readable): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const chunk of body) {
    if (isEmpty && (chunk as Uint8Array).byteLength > 0) isEmpty = false;
    yield chunk as Uint8Array;
  }
  if (isEmpty) throw invalidAudio('The audio file is empty.');
}
