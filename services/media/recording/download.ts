/**
 * Chooses a recording of the provider and downloads it to the object store, in constant memory and with a digest. A
 * download can be resumed within an attempt, and by another process. The complete parts of the multipart upload are its
 * progress.
 */
import { createHash } from 'node:crypto';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { PermanentJobError } from '#libs/infrastructure/jobs';
import {
  chooseByOverlap,
  type MeetingProvider,
  type MeetingRecording,
  type RecordingDownload,
} from '#libs/product/realtimekit';
import type { Logger } from '#libs/infrastructure/logger';
import type { ObjectStore, UnfinishedUpload } from '#libs/infrastructure/object-store';
import { countTransferred } from '#libs/infrastructure/transfer';
import type { ConversationTime } from './rules.ts';

export interface RecordingSource {
  readonly meeting_id: string | null;
  readonly recording_id: string | null;
}

/**
 * Returns the recording that the room names, else the recording of the meeting with the longest overlap with the
 * conversation.
 * @throws AppError unavailable while no recording can be downloaded; PermanentJobError when the provider failed to
 * create the recording
 */
export async function findRecording(
  provider: MeetingProvider,
  source: RecordingSource,
  time: ConversationTime,
  signal: AbortSignal,
): Promise<MeetingRecording> {
  const recording = await choose(provider, source, time, signal);
  if (recording.status === 'UPLOADED') return recording;
  if (recording.status === 'ERRORED') throw new PermanentJobError('the meeting provider failed to make the recording');
  throw unavailable('the recording is not uploaded yet');
}

async function choose(
  provider: MeetingProvider,
  source: RecordingSource,
  time: ConversationTime,
  signal: AbortSignal,
): Promise<MeetingRecording> {
  if (source.recording_id !== null) return provider.readRecording(source.recording_id, signal);
  if (source.meeting_id === null) throw unavailable('the conversation has no meeting yet');
  if (time.start === undefined) throw unavailable('the conversation has neither a recording nor a start yet');
  const recordings = await provider.listRecordings(source.meeting_id, signal);
  const spans = recordings.flatMap((item) => (item.start === undefined ? [] : [{ ...item, start: item.start }]));
  const window = { start: time.start, end: time.end };
  const usable = spans.filter(({ status }) => status !== 'ERRORED');
  const found = chooseByOverlap(usable, window) ?? chooseByOverlap(spans, window);
  if (found === undefined) throw unavailable('the meeting has no recording that overlaps the conversation yet');
  return found;
}

export interface DownloadOptions {
  readonly provider: MeetingProvider;
  readonly store: ObjectStore;
  readonly recording: MeetingRecording;
  readonly objectKey: string;
  readonly contentType: string;
  /** Entity tag of the bytes that are already stored. */
  readonly etag: string | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Stores the entity tag before the first bytes are stored. */
  readonly saveEtag: (etag: string | undefined) => Promise<void>;
  readonly onProgress: (fraction: number) => void;
}

export interface StoredRecording {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The download has a different size than expected; all its bytes are removed. */
class LengthMismatch extends Error {
  override readonly name = 'WrongLength';
}

/**
 * Downloads the recording, or resumes its download. On a failure the complete parts are preserved for the next attempt.
 * @throws AppError unavailable, ProviderBusy, DownloadTooLarge, PermanentJobError
 */
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
        await options.saveEtag(etag);
      }
      return await receive(options, opened, unfinished);
    } catch (error) {
      await opened.body.return(undefined).catch(() => undefined);
      if (error instanceof LengthMismatch) {
        await store.removeUpload(objectKey);
        throw unavailable(error.message);
      }
      if (!(error instanceof AppError) || error.code !== 'unavailable' || signal.aborted) throw error;
      unfinished = await store.findUnfinished(objectKey);
      // If no new part is complete, the job waits and retries.
      if ((unfinished?.sizeBytes ?? 0) <= opened.offset) throw error;
      logger.info(
        { storedBytes: unfinished?.sizeBytes, reason: error.message },
        'download of a recording interrupted, resuming',
      );
    }
  }
}

async function open(
  { provider, recording, signal }: DownloadOptions,
  offset: number,
  etag: string | undefined,
): Promise<RecordingDownload> {
  // All parts are stored; only the upload still has to be completed.
  if (offset > 0 && offset === recording.sizeBytes) return { offset, totalBytes: offset, etag, body: emptyBody() };
  return provider.openRecording(recording.id, { offset, etag }, signal);
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  yield* [];
}

async function receive(
  options: DownloadOptions,
  opened: RecordingDownload,
  unfinished: UnfinishedUpload | undefined,
): Promise<StoredRecording> {
  const { store, objectKey, contentType, signal, recording, maxBytes } = options;
  const expectedBytes = recording.sizeBytes ?? opened.totalBytes;
  if ((expectedBytes ?? 0) > maxBytes)
    throw new PermanentJobError(`the recording is larger than MEDIA_RECORDING_MAX_BYTES (${maxBytes})`);
  const hash = createHash('sha256');
  const body = async function* (): AsyncGenerator<Uint8Array> {
    let received = opened.offset;
    for await (const chunk of opened.body) {
      received += chunk.byteLength;
      if (received > maxBytes)
        throw new PermanentJobError(`the recording is larger than MEDIA_RECORDING_MAX_BYTES (${maxBytes})`);
      if (opened.offset === 0) hash.update(chunk);
      countTransferred(chunk.byteLength);
      if (expectedBytes !== undefined) options.onProgress(Math.min(1, received / expectedBytes));
      yield chunk;
    }
    if (received === 0) throw new LengthMismatch('the recording download is empty');
    if (expectedBytes !== undefined && received !== expectedBytes) {
      throw new LengthMismatch(`the recording download has ${received} bytes where ${expectedBytes} were expected`);
    }
  };
  const sizeBytes = await store.resumeStream(objectKey, body(), { contentType, signal, unfinished });
  return {
    sizeBytes,
    sha256: opened.offset === 0 ? hash.digest('hex') : await hashStoredObject(store, objectKey, sizeBytes, signal),
  };
}

/**
 * Returns the digest of a resumed download, computed from the stored bytes. The computation of a digest cannot be
 * resumed in another process.
 */
async function hashStoredObject(
  store: ObjectStore,
  objectKey: string,
  sizeBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const object = await store.get(objectKey, { signal });
  if (object === undefined || object.sizeBytes !== sizeBytes) throw unavailable('failed to read the stored recording');
  const hash = createHash('sha256');
  try {
    for await (const chunk of object.body as AsyncIterable<Buffer>) {
      countTransferred(chunk.byteLength);
      hash.update(chunk);
    }
  } catch (error) {
    throw unavailable('failed to read the stored recording', { cause: error });
  }
  return hash.digest('hex');
}
