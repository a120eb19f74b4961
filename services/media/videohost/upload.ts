/**
 * Uploads a recording to the video host so that a crash cannot cause a second video. The upload URL is stored before
 * the first byte, and after an unknown outcome the progress is requested from the host. When the outcome cannot be
 * determined, the job fails with a message and does not upload again.
 */
import type { Dependencies } from '../dependencies.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import { unavailable } from '#libs/infrastructure/errors';
import type { Logger } from '#libs/infrastructure/logger';
import type { Database } from '#libs/infrastructure/orm';
import { renewLease } from '#libs/infrastructure/concurrency';
import {
  type ClaimUpload,
  claimVideohostUpload,
  releaseVideohostUpload,
  saveVideohostUpload,
  type UploadKey,
  type VideohostUpload,
} from './statements.ts';
import {
  type PublishedVideo,
  type UploadState,
  type VideoDetails,
  type VideoHost,
  VideoHostError,
} from '../video-host.ts';

export interface UploadFile {
  readonly objectKey: string;
  readonly sizeBytes: number;
  readonly contentType: string;
}

type UploadDependencies = Pick<Dependencies, 'config' | 'db' | 'store'>;

/** Progress of an upload, stored between attempts. */
interface UploadProgress {
  readonly session: string | null;
  readonly isEnding: boolean;
  readonly video: PublishedVideo | null;
  readonly outcomeUnknownJobId: string | null;
}

interface Upload extends UploadDependencies {
  readonly host: VideoHost;
  readonly key: UploadKey;
  readonly file: UploadFile;
  readonly details: VideoDetails;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Called with the fraction of the bytes that the host has received. */
  readonly onProgress: (share: number) => void;
}

const maxSessions = 3;
/** Delays after consecutive failures. A further failure ends the attempt. */
const retryDelaysMs = [500, 2_000, 5_000] as const;

const unknownOutcome =
  'the video host no longer has the upload, and its last bytes may have arrived. Check the channel. If the video exists, ' +
  'set `records.videohost` of `infos.publishing` manually; otherwise redrive the job, which uploads it again';

/** Uploads the file unless it is already published. @throws VideoHostError, PermanentJobError */
export async function uploadOnce(
  deps: UploadDependencies,
  what: Omit<Upload, keyof UploadDependencies>,
): Promise<{ video: PublishedVideo; isNew: boolean }> {
  return withUploadClaim({ ...deps, ...what, claim: claimVideohostUpload }, async (row, lost) => {
    if (row.video !== null) return { video: JSON.parse(row.video) as PublishedVideo, isNew: false };
    const upload = { ...deps, ...what, signal: AbortSignal.any([what.signal, lost]) };
    return { video: await continueUpload(upload, row), isNew: true };
  });
}

async function continueUpload(upload: Upload, known: VideohostUpload): Promise<PublishedVideo> {
  const { host, file, signal, key } = upload;
  if (known.lost_by_job_id !== null && known.lost_by_job_id !== key.jobId) throw new PermanentJobError(unknownOutcome);
  let progress: UploadProgress = {
    session: known.session,
    isEnding: known.is_ending,
    video: null,
    outcomeUnknownJobId: null,
  };
  if (known.lost_by_job_id === key.jobId) progress = { ...progress, session: null, isEnding: false };
  for (let count = 0; count < maxSessions; count += 1) {
    let state: UploadState = { kind: 'incomplete', receivedBytes: 0 };
    if (progress.session === null) {
      const session = await host.startUpload(upload.details, file, signal);
      progress = await save(upload, { ...progress, session });
    } else {
      state = await host.readUploadState(progress.session, file.sizeBytes, signal);
    }
    const sent = await sendRemaining(upload, progress, state);
    if (sent.state.kind === 'complete') {
      await save(upload, { ...sent.progress, video: sent.state.video });
      return sent.state.video;
    }
    if (sent.progress.isEnding) {
      await save(upload, { ...sent.progress, session: null, outcomeUnknownJobId: key.jobId });
      throw new PermanentJobError(unknownOutcome);
    }
    progress = await save(upload, { ...sent.progress, session: null });
  }
  throw unavailable('the video host lost every started upload');
}

/** Sends the remaining bytes until the upload is complete or the host no longer has it. */
async function sendRemaining(
  upload: Upload,
  started: UploadProgress,
  initialState: UploadState,
): Promise<{ state: UploadState; progress: UploadProgress }> {
  const { host, file, signal, config } = upload;
  const { session } = started;
  if (session === null) throw new Error('the upload was not started');
  const buffer = Buffer.allocUnsafeSlow(Math.min(config.VIDEOHOST_CHUNK_BYTES, file.sizeBytes));
  let progress = started;
  let state = initialState;
  let failures = 0;
  while (state.kind === 'incomplete') {
    const offset = state.receivedBytes;
    upload.onProgress(offset / file.sizeBytes);
    // When the host has received all bytes but the video is not ready, only the state is read.
    const chunk = offset >= file.sizeBytes ? undefined : await readChunk(upload, offset, buffer);
    if (!progress.isEnding && offset + (chunk?.byteLength ?? 0) >= file.sizeBytes)
      progress = await save(upload, { ...progress, isEnding: true });
    try {
      const next: UploadState =
        chunk === undefined
          ? await host.readUploadState(session, file.sizeBytes, signal)
          : await host.send(session, chunk, { offset, sizeBytes: file.sizeBytes }, signal);
      if (next.kind !== 'incomplete' || next.receivedBytes > offset) failures = 0;
      else if (++failures > retryDelaysMs.length) throw unavailable('the video host accepts no more bytes');
      state = next;
    } catch (error) {
      const waitMs = retryDelaysMs[failures];
      if (!(error instanceof VideoHostError) || error.kind !== 'away' || waitMs === undefined) throw error;
      failures += 1;
      await sleep(error.retryAfterMs ?? waitMs, undefined, { signal });
      state = await host.readUploadState(session, file.sizeBytes, signal);
    }
  }
  return { state, progress };
}

async function readChunk({ store, file, signal }: Upload, offset: number, buffer: Buffer): Promise<Buffer> {
  const length = Math.min(buffer.byteLength, file.sizeBytes - offset);
  const object = await store.get(file.objectKey, { range: { first: offset, last: offset + length - 1 }, signal });
  if (object === undefined) throw unavailable('the recording has been replaced');
  let filled = 0;
  for await (const part of object.body as AsyncIterable<Buffer>) filled += part.copy(buffer, filled);
  if (filled !== length) throw unavailable('the object store returned an incomplete recording');
  return buffer.subarray(0, length);
}

async function save(upload: Upload, progress: UploadProgress): Promise<UploadProgress> {
  const video = progress.video === null ? null : JSON.stringify(progress.video);
  if ((await saveVideohostUpload(upload.db, { ...upload.key, ...progress, video })) === undefined)
    throw claimedElsewhere();
  return progress;
}

const claimSeconds = 60;
const busyDelayMs = 15_000;

/**
 * Runs `work` while this job has the claim; the signal `lost` aborts when the claim is lost. @throws RetryLater while
 * another job has the claim
 */
export async function withUploadClaim<Known, Result>(
  { db, key, logger, claim }: { db: Database; key: UploadKey; logger: Logger; claim: ClaimUpload<Known> },
  work: (known: Known, lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const claimUpload = () => claim(db, { ...key, seconds: claimSeconds });
  const row = await claimUpload();
  if (row === undefined) throw claimedElsewhere();
  const lease = renewLease({
    leaseMs: claimSeconds * 1000,
    renew: async () => (await claimUpload()) !== undefined,
    onFailure: (error) => logger.warn({ err: error }, 'failed to renew the claim of a video'),
    reason: claimedElsewhere,
  });
  try {
    return await work(row, lease.lost);
  } finally {
    lease.stop();
    await releaseVideohostUpload(db, key).catch(() => undefined);
  }
}

export function claimedElsewhere(): RetryLater {
  return new RetryLater('another job is using this video', { delayMs: busyDelayMs });
}
