/**
 * Job `media.recording-import` (rules/steps#pipeline-jobs; rules/providers#realtimekit). It imports the provider's
 * recording, a trimmed recording that starts at `conversationStartedAt`, and thumbnails. One transaction installs all
 * files; when the job fails, the previous files remain.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import { recordingImport as declaration, type RecordingImportConfig } from '#libs/product/pipeline';
import {
  pipelineWorker,
  type PipelineOutcome,
  type PipelineRun,
  type PipelineWorker,
} from '#libs/product/pipeline-worker';
import { DownloadTooLarge, ProviderBusy, type MeetingRecording } from '#libs/product/realtimekit';
import { formatInstant, parseInstant, type Instant } from '#libs/infrastructure/time';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../dependencies.ts';
import { listRecordings } from '../files.ts';
import { newRecordingKey, newThumbnailKey, trimmedName } from '../file-names.ts';
import { discardUpload, acquireUploadLease, type UploadLease } from '../upload-leases/index.ts';
import { findRecording } from './download.ts';
import { type FullRecording, withImportClaim, getFullRecording } from './full.ts';
import { thumbnailUrls, install, type ImportedFiles, type NewObject } from './install.ts';
import { serveObjectLocally } from './object-server.ts';
import { extractPicture, probeRecording, type ProbeResult, trimFront, type TrimMethod } from './ffmpeg.ts';
import { type ConversationTime, type Cut, decideCut, limitCut, choosePictureTimes } from './rules.ts';
import { countThumbnails, setImportStart } from './statements.ts';
import { FfmpegError } from '#libs/infrastructure/ffmpeg';

export type RecordingImportDependencies = Pick<
  Dependencies,
  | 'config'
  | 'db'
  | 'bus'
  | 'jobs'
  | 'eventOutbox'
  | 'store'
  | 'logger'
  | 'provider'
  | 'ffmpeg'
  | 'scratch'
  | 'requestSweep'
>;

type Step = PipelineRun<RecordingImportConfig>;
type Source = ReplyOf<typeof conversations.rpcs.getTranscriptSource>;

/** Files of an import, and how they were created. */
interface ImportResult extends ImportedFiles {
  readonly cut: Cut;
  readonly method: TrimMethod | undefined;
  /** True when all files already existed. */
  readonly isUnchanged: boolean;
}

/** Progress in percent after each phase. */
const downloadedPercent = 50;
const trimmedPercent = 95;

export function createRecordingImport(deps: RecordingImportDependencies): PipelineWorker {
  return pipelineWorker(declaration, async (step) => {
    try {
      await importRecording(deps, step);
    } catch (error) {
      throw toJobError(error, step);
    }
  });
}

/**
 * Converts an error to its effect on the job: permanent errors end the job, rate limits delay it, other errors follow
 * the retry policy.
 */
function toJobError(error: unknown, { run }: Step): unknown {
  if (error instanceof ProviderBusy) return new RetryLater(error.message, { delayMs: error.retryAfterMs });
  if (error instanceof DownloadTooLarge) return new PermanentJobError(error.message);
  if (!(error instanceof FfmpegError)) return error;
  run.logger.warn({ output: error.output }, error.message);
  // ffmpeg is killed for external reasons, e.g. lack of memory. An exit status means that ffmpeg cannot process this
  // recording.
  if (error.isKilled) return unavailable(error.message);
  return new PermanentJobError(`${error.message} on this recording; see the log for its output`);
}

async function importRecording(deps: RecordingImportDependencies, step: Step): Promise<void> {
  const { run, conversationId } = step;
  const source = await readSource(deps.bus, step);
  if (source === undefined) return step.finish(() => Promise.resolve(gone));
  const { provider } = deps;
  if (provider === undefined) throw unavailable('no meeting provider is configured');
  const time = readTime(source);
  run.progress(0, 'looking for the recording');
  const recording = await findRecording(provider, source, time, run.signal);
  await withImportClaim(deps, conversationId, run.id, run.signal, async (existing, signal) => {
    run.progress(1, 'downloading');
    const target = { conversationId, jobId: run.id, recording, existing };
    const full = await getFullRecording(deps, provider, target, {
      signal,
      onProgress: (part) => run.progress(part * downloadedPercent),
    });
    const startedAt = recording.start === undefined ? null : formatInstant(recording.start);
    await setImportStart(deps.db, { conversationId, objectKey: full.objectKey, startedAt });
    const leases: UploadLease[] = [];
    let installed = false;
    try {
      const files = await createFiles({ ...deps, step, signal, leases }, full, recording, time);
      run.progress(trimmedPercent, 'installing');
      await step.finish(async (tx) => {
        installed = await install(deps, tx, conversationId, files);
        return installed ? describe(files, recording) : gone;
      });
    } finally {
      for (const lease of leases) {
        if (installed) lease.close();
        else await discardUpload(deps, lease);
      }
    }
  });
}

interface ImportRun extends RecordingImportDependencies {
  readonly step: Step;
  readonly signal: AbortSignal;
  /** Leases of stored objects that have no record yet. */
  readonly leases: UploadLease[];
}

async function createFiles(
  importRun: ImportRun,
  full: FullRecording,
  recording: MeetingRecording,
  time: ConversationTime,
): Promise<ImportResult> {
  const { step, signal, ffmpeg, store } = importRun;
  const { trim, thumbnails: count } = step.config;
  const requestedCut = decideCut(trim, recording, time);
  // Without a known start, pictures could show content that will be cut off.
  const pictures = requestedCut.kind === 'start_unknown' ? 0 : count;
  const noTrim = { trimmedFrom: null, picturesFrom: full.derivedFrom.picturesFrom };
  const isUnchanged = full.isCurrent && full.derivedFrom.trimmedFrom === null;
  if (requestedCut.kind !== 'at' && pictures === 0)
    return {
      full,
      cut: requestedCut,
      trimmed: null,
      method: undefined,
      thumbnails: undefined,
      sources: noTrim,
      isUnchanged,
    };
  const server = await serveObjectLocally(store, full);
  try {
    const probed = await probeRecording(ffmpeg, server.url, signal);
    const cut = limitCut(requestedCut, probed.durationSeconds);
    const hasPictures = probed.video !== undefined && cut.kind !== 'outside';
    const pictureTimes = hasPictures ? choosePictureTimes(pictures, recording, time, probed.durationSeconds) : [];
    const sources = {
      trimmedFrom: cut.kind === 'at' ? `${full.sha256} ${cut.seconds}` : null,
      picturesFrom: count === 0 ? full.derivedFrom.picturesFrom : `${full.sha256} ${pictureTimes.join(' ')}`,
    };
    const reusable = await findReusable(importRun, full, sources, pictureTimes.length);
    const trimmed =
      cut.kind === 'at' && !reusable.trimmed
        ? await createTrimmed(importRun, server.url, probed, cut.seconds, full)
        : undefined;
    step.run.progress(trimmedPercent - 5, 'taking pictures');
    const thumbnails: NewObject[] = [];
    for (const seconds of reusable.pictures ? [] : pictureTimes) {
      const bytes = await extractPicture(ffmpeg, server.url, seconds, signal);
      const name = `thumbnail-${thumbnails.length + 1}.jpg`;
      thumbnails.push(
        await storeObject(importRun, newThumbnailKey(step.conversationId), { name, contentType: 'image/jpeg' }, [
          bytes,
        ]),
      );
    }
    server.throwIfFailed();
    const isUnchangedTrim = full.isCurrent && full.derivedFrom.trimmedFrom === sources.trimmedFrom;
    return {
      full,
      cut,
      trimmed: reusable.trimmed ? 'kept' : (trimmed?.object ?? null),
      method: trimmed?.method,
      thumbnails: count === 0 || reusable.pictures ? undefined : thumbnails,
      sources,
      isUnchanged: isUnchangedTrim && (reusable.trimmed || cut.kind !== 'at') && (reusable.pictures || count === 0),
    };
  } catch (error) {
    // When the store returned incomplete data, the ffmpeg error is not caused by the file.
    if (!signal.aborted) server.throwIfFailed();
    throw error;
  } finally {
    await server.close();
  }
}

/** Returns whether existing files were created from the same inputs and can be reused. */
async function findReusable(
  { db, step: { conversationId } }: ImportRun,
  { derivedFrom }: FullRecording,
  { trimmedFrom, picturesFrom }: ImportResult['sources'],
  pictures: number,
): Promise<{ trimmed: boolean; pictures: boolean }> {
  const isTrimmed = trimmedFrom !== null && derivedFrom.trimmedFrom === trimmedFrom;
  const isPictured = picturesFrom !== null && derivedFrom.picturesFrom === picturesFrom;
  const recordings = isTrimmed ? await listRecordings(db, { conversationId }) : [];
  return {
    trimmed: recordings.some(({ kind }) => kind === 'front_trimmed'),
    pictures: isPictured && (await countThumbnails(db, { conversationId })).count === pictures,
  };
}

async function createTrimmed(
  importRun: ImportRun,
  url: string,
  probed: ProbeResult,
  cutSeconds: number,
  full: FullRecording,
): Promise<{ object: NewObject; method: TrimMethod }> {
  const { ffmpeg, scratch, step, signal, config } = importRun;
  const maxBytes = config.MEDIA_SCRATCH_MAX_BYTES;
  return scratch.run(async (folder) => {
    const file = join(folder, 'trimmed.mp4');
    const share = trimmedPercent - 10 - downloadedPercent;
    step.run.progress(downloadedPercent, 'trimming');
    const onProgress = (part: number): void => step.run.progress(downloadedPercent + part * share);
    const method = await trimFront({ ffmpeg, url, probed, cutSeconds, file, maxBytes, signal, onProgress });
    step.run.progress(downloadedPercent + share, 'storing the trimmed recording');
    const described = { name: trimmedName(full.name), contentType: 'video/mp4' };
    const object = await storeObject(
      importRun,
      newRecordingKey(step.conversationId, 'mp4'),
      described,
      createReadStream(file),
    );
    return { object, method };
  });
}

/** Stores an object under a lease, so that the sweep removes the object when it is not installed. */
async function storeObject(
  importRun: ImportRun,
  objectKey: string,
  described: { name: string; contentType: string },
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<NewObject> {
  const lease = await acquireUploadLease(importRun, objectKey);
  importRun.leases.push(lease);
  const signal = AbortSignal.any([importRun.signal, lease.lost]);
  const stored = await importRun.store.putStream(objectKey, toAsync(body), {
    contentType: described.contentType,
    signal,
  });
  return { objectKey, ...described, ...stored };
}

async function* toAsync(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}

/** Returns meeting, recording and window of the conversation; returns undefined when the conversation is deleted. */
async function readSource(bus: Bus, { run, conversationId }: Step): Promise<Source | undefined> {
  try {
    return await bus.call(conversations.rpcs.getTranscriptSource, { conversation_id: conversationId }, run.context);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function readTime({ window }: Source): ConversationTime {
  const read = (text: string | null): Instant | undefined => {
    const parsed = text === null ? undefined : parseInstant(text);
    return parsed?.kind === 'instant' ? parsed.instant : undefined;
  };
  return { start: read(window.conversation_started_at), end: read(window.capture_ended_at) };
}

const gone: PipelineOutcome = { result: { status: 'conversation_gone' }, note: null, succeeded: false };

function describe(
  { full, cut, trimmed, method, thumbnails, isUnchanged }: ImportResult,
  recording: MeetingRecording,
): PipelineOutcome {
  const pictures = thumbnails ?? [];
  const counted =
    pictures.length === 0 ? '' : `, ${pictures.length} ${pictures.length === 1 ? 'thumbnail' : 'thumbnails'}`;
  return {
    result: {
      status: cut.kind === 'start_unknown' ? 'imported_untrimmed' : isUnchanged ? 'unchanged' : 'imported',
      recording_id: recording.id,
      size_bytes: full.sizeBytes,
      sha256: full.sha256,
      trim: method ?? (trimmed === 'kept' ? trimmed : cut.kind),
      cut_seconds: cut.kind === 'at' ? cut.seconds : null,
      thumbnails: pictures.length,
    },
    note: isUnchanged
      ? `${declaration.name} finished: nothing has changed since the last import`
      : `${declaration.name} finished: ${full.sizeBytes} bytes, ${describeCut(cut, method)}${counted}`,
    // The job runs again when the start becomes known.
    succeeded: cut.kind !== 'start_unknown',
    ...(pictures.length === 0 ? {} : { publishing: { artifacts: { imported_thumbnails: thumbnailUrls(pictures) } } }),
  };
}

function describeCut(cut: Cut, method: TrimMethod | undefined): string {
  if (cut.kind === 'at') return `${cut.seconds.toFixed(3)} s cut off (${method ?? 'as before'})`;
  if (cut.kind === 'start_unknown') return 'not trimmed: the start of the conversation is not known yet';
  if (cut.kind === 'outside') return 'not trimmed: the conversation started after its end';
  return cut.kind === 'not_needed' ? 'no trim needed' : 'no trim asked for';
}
