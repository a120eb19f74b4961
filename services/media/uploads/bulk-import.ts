/**
 * Uploads of the bulk import. The bytes are streamed to the object store in constant memory, and replace the existing
 * file (rules/workspace#bulk-import).
 */
import type { IncomingMessage } from 'node:http';
import { conversations } from '#services/conversations';
import { AppError } from '#libs/infrastructure/errors';
import { countTransferred } from '#libs/infrastructure/transfer';
import type { StoredFile } from '../schemas.ts';
import { maxAudioBytes, maxRecordingBytes } from './contract.ts';
import type { FileRecord } from '../files.ts';
import { ClientDisconnected, type Exchange } from '../http/index.ts';
import { describeRecordingFile, newRecordingKey } from '../file-names.ts';
import { discardUpload, acquireUploadLease } from '../upload-leases/index.ts';
import { checkAudioFits, commitFile, type UploadDependencies } from './commit-file.ts';
import { describeAudioFile, invalidAudio, newAudioKey } from './rules.ts';

/** Value of `infos.audio.source` for imported files. */
const importSource = 'import';

const blobKinds = { audio: 'audio', full: 'recording_full', front_trimmed: 'recording_front_trimmed' } as const;

export interface ImportedFile {
  readonly kind: StoredFile['kind'];
  readonly name: string;
  readonly extension: string;
  readonly contentType: string;
  readonly finalized: boolean;
  /** False when the import sets `infos.audio` itself. */
  readonly attach: boolean;
}

/**
 * Returns the file that the query of the request describes. @throws AppError `invalid_conversation_audio`; 400 without
 * a name
 */
export function readImport(kind: StoredFile['kind'], query: URLSearchParams): ImportedFile {
  const fileName = query.get('name') ?? '';
  if (fileName === '') throw new AppError({ code: 'bad_request', message: '`name` is required in the query' });
  const file = kind === 'audio' ? describeAudioFile(fileName) : describeRecordingFile(fileName);
  return { ...file, kind, finalized: query.get('finalized') === 'true', attach: query.get('attach') !== 'false' };
}

/**
 * Stores the request body as the conversation's file. On an error nothing is changed. @throws AppError 400, 404, 503
 */
export async function acceptImport(
  deps: UploadDependencies,
  { request, context }: Exchange,
  conversationId: number,
  file: ImportedFile,
  stopping: AbortSignal,
): Promise<{ sha256: string; size_bytes: number }> {
  await deps.bus.call(conversations.rpcs.exists, { id: conversationId }, context);
  const newKey = file.kind === 'audio' ? newAudioKey : newRecordingKey;
  const lease = await acquireUploadLease(deps, newKey(conversationId, file.extension));
  const { objectKey } = lease;
  try {
    const signal = AbortSignal.any([stopping, lease.lost]);
    const stored = await deps.store.putStream(objectKey, readBody(request, file.kind), {
      contentType: file.contentType,
      signal,
    });
    const { name, contentType, finalized } = file;
    const record: FileRecord = {
      kind: blobKinds[file.kind],
      conversationId,
      objectKey,
      name,
      contentType,
      ...stored,
      source: importSource,
      finalized,
      accountId: null,
      personId: null,
    };
    if (file.kind === 'audio' && file.attach) await checkAudioFits(deps, conversationId, record, context);
    await commitFile(deps, record, file.kind === 'audio' && file.attach ? { note: false } : undefined, context);
    lease.close();
    return { sha256: stored.sha256, size_bytes: stored.sizeBytes };
  } catch (error) {
    await discardUpload(deps, lease);
    throw error;
  }
}

/** Yields the body. Throws when the body is empty, too large or incomplete. */
async function* readBody(request: IncomingMessage, kind: StoredFile['kind']): AsyncGenerator<Uint8Array> {
  const limit = kind === 'audio' ? maxAudioBytes : maxRecordingBytes;
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > limit) throw bodyError(kind, `The file is larger than ${limit} bytes.`);
      countTransferred(chunk.byteLength);
      yield chunk;
    }
  } catch (error) {
    throw request.complete || error instanceof AppError ? error : new ClientDisconnected();
  }
  if (size === 0) throw bodyError(kind, 'The file is empty.');
}

function bodyError(kind: StoredFile['kind'], message: string): AppError {
  return kind === 'audio' ? invalidAudio(message) : new AppError({ code: 'bad_request', message });
}
