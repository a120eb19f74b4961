/** POST …/audio: from the socket to the object store in constant memory (rules/media#audio-upload; D27). */
import type { Readable } from 'node:stream';
import { conversations } from '#services/conversations';
import { unavailable } from '#libs/errors';
import { type AudioMetadata, maxAudioBytes, type StoredFile } from '../contract.ts';
import { receiveFile, sendJson } from '../http/index.ts';
import { discardUpload, openLease, type StoreLease } from '../upload-leases/index.ts';
import { checkAttachable } from './attachable.ts';
import { acceptImport, readImport } from './bulk-import.ts';
import { commitFile, type UploadDependencies, type UploadRequest } from './commit-file.ts';
import { describeAudioFile, invalidAudio, newAudioKey } from './rules.ts';

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
    const file = { ...stored, ...actorIds, kind: 'audio', conversationId, source: 'upload', finalized: false } as const;
    const metadata = await commitFile(deps, file, {}, context);
    lease.current?.close();
    return metadata;
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
