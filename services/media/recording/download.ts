/**
 * A recording from the provider into the object store: in constant memory, with a digest, and going on where it broke off, within an attempt
 * and after the death of a process. Whole parts of the multipart upload are the memory of how far it has come.
 */
import { createHash } from 'node:crypto';
import { AppError, unavailable } from '#libs/errors';
import { PermanentJobError } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { ObjectStore, UnfinishedUpload } from '#libs/object-store';
import type { MeetingRecording, RecordingDownload, MeetingProvider } from '#libs/realtimekit';
import { countTransferred } from '#libs/transfer';

export interface DownloadOptions {
  readonly provider: MeetingProvider;
  readonly store: ObjectStore;
  readonly recording: MeetingRecording;
  readonly objectKey: string;
  readonly contentType: string;
  /** Tag of the bytes that are there already. */
  readonly etag: string | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Keeps the tag of the bytes that are being stored, before the first of them. */
  readonly keepEtag: (etag: string | undefined) => Promise<void>;
  readonly onProgress: (fraction: number) => void;
}

export interface StoredRecording {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The download is not what was announced: nothing of it is kept. */
class WrongLength extends Error {
  override readonly name = 'WrongLength';
}

/** @throws AppError unavailable, ProviderBusy, DownloadTooLarge, PermanentJobError; whole parts stay for the next attempt. */
export async function downloadRecording(options: DownloadOptions): Promise<StoredRecording> {
  const { store, objectKey, signal, logger } = options;
  let { etag } = options;
  let unfinished = await store.findUnfinished(objectKey);
  for (;;) {
    const before = unfinished?.sizeBytes ?? 0;
    const opened = await open(options, before, etag);
    try {
      if (opened.offset !== before) {
        await store.removeUpload(objectKey);
        unfinished = undefined;
      }
      if (opened.offset === 0) {
        etag = opened.etag;
        await options.keepEtag(etag);
      }
      return await receive(options, opened, unfinished);
    } catch (error) {
      await opened.body.return(undefined).catch(() => undefined);
      if (error instanceof WrongLength) {
        await store.removeUpload(objectKey);
        throw unavailable(error.message);
      }
      if (!(error instanceof AppError) || error.code !== 'unavailable' || signal.aborted) throw error;
      unfinished = await store.findUnfinished(objectKey);
      // Without a new whole part it is the job's turn to wait.
      if ((unfinished?.sizeBytes ?? 0) <= opened.offset) throw error;
      logger.info({ storedBytes: unfinished?.sizeBytes, reason: error.message }, 'download of a recording broke off; going on');
    }
  }
}

async function open(
  { provider, recording, signal }: DownloadOptions,
  offset: number,
  etag: string | undefined,
): Promise<RecordingDownload> {
  // All parts are there and only the end of the upload is missing: there is no rest to ask for.
  if (offset > 0 && offset === recording.sizeBytes) return { offset, totalBytes: offset, etag, body: nothing() };
  return provider.openRecording(recording.id, { offset, etag }, signal);
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield* [];
}

async function receive(
  options: DownloadOptions,
  opened: RecordingDownload,
  unfinished: UnfinishedUpload | undefined,
): Promise<StoredRecording> {
  const { store, objectKey, contentType, signal, recording, maxBytes } = options;
  const announced = recording.sizeBytes ?? opened.totalBytes;
  if ((announced ?? 0) > maxBytes) throw new PermanentJobError(`the recording is larger than MEDIA_RECORDING_MAX_BYTES (${maxBytes})`);
  const hash = createHash('sha256');
  const body = async function* (): AsyncGenerator<Uint8Array> {
    let received = opened.offset;
    for await (const chunk of opened.body) {
      received += chunk.byteLength;
      if (received > maxBytes) throw new PermanentJobError(`the recording is larger than MEDIA_RECORDING_MAX_BYTES (${maxBytes})`);
      if (opened.offset === 0) hash.update(chunk);
      countTransferred(chunk.byteLength);
      if (announced !== undefined) options.onProgress(Math.min(1, received / announced));
      yield chunk;
    }
    if (received === 0) throw new WrongLength('the recording download is empty');
    if (announced !== undefined && received !== announced) {
      throw new WrongLength(`the recording download has ${received} bytes where ${announced} were announced`);
    }
  };
  const sizeBytes = await store.resumeStream(objectKey, body(), { contentType, signal, unfinished });
  return { sizeBytes, sha256: opened.offset === 0 ? hash.digest('hex') : await digestStored(store, objectKey, sizeBytes, signal) };
}

/** Of a download in pieces, read back from the store: a digest cannot be taken up again in another process. */
async function digestStored(store: ObjectStore, objectKey: string, sizeBytes: number, signal: AbortSignal): Promise<string> {
  const object = await store.get(objectKey, { signal });
  if (object === undefined || object.sizeBytes !== sizeBytes) throw unavailable('the stored recording cannot be read back');
  const hash = createHash('sha256');
  try {
    for await (const chunk of object.body as AsyncIterable<Buffer>) {
      countTransferred(chunk.byteLength);
      hash.update(chunk);
    }
  } catch (error) {
    throw unavailable('the stored recording cannot be read back', { cause: error });
  }
  return hash.digest('hex');
}
