/**
 * Job `transcripts.audio-transcription` (rules/steps#pipeline-jobs; rules/providers#language-models): downloads the
 * canonical audio, cuts out the window, splits and transcribes it, and installs the rows with evidence like an import.
 * Speech outside the window is never sent, stored or logged. A failed attempt changes nothing; the next attempt starts
 * from the beginning.
 */
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { FfmpegError } from '#libs/infrastructure/ffmpeg';
import { PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import type { CallContext } from '#libs/infrastructure/nats';
import { ModelFailure } from '#libs/infrastructure/openai';
import type { Tx } from '#libs/infrastructure/orm';
import { OutboundError } from '#libs/infrastructure/outbound';
import { audioTranscription as declaration, type AudioTranscriptionConfig } from '#libs/product/pipeline';
import {
  type PipelineOutcome,
  type PipelineRun,
  pipelineWorker,
  type PipelineWorker,
} from '#libs/product/pipeline-worker';
import { maxAudioBytes, media, mediaPaths } from '#services/media';
import { type Artifact, lockForWriting, readEvidenceState, type RunResult } from '../evidence/index.ts';
import {
  type FinishedStatus,
  InstallRefused,
  installTranscript,
  parseWindow,
  readSource,
  recordResult,
} from '../import/index.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Window } from '../row-filter.ts';
import { rowsChanged } from '../search/index.ts';
import { type RoomParticipant, SpeakerCollector } from '../speaker.ts';
import { type AudioRange, prepareAudio } from './prepare.ts';
import { type TranscribedRows, transcribeParts } from './transcribe.ts';

type AudioTranscriptionDependencies = Pick<
  Dependencies,
  | 'config'
  | 'db'
  | 'bus'
  | 'jobs'
  | 'eventOutbox'
  | 'mediaOutbound'
  | 'ffmpeg'
  | 'scratch'
  | 'transcriber'
  | 'countTranscription'
>;

/** `kept`: the existing transcript was not replaced. */
type TranscriptionStatus = FinishedStatus | 'kept';
type Step = PipelineRun<AudioTranscriptionConfig>;

interface Transcribed extends TranscribedRows {
  readonly artifact: Artifact;
  readonly window: Window;
  readonly parts: number;
}

/** Session id in the evidence of a transcription. */
const audioSessionId = 'canonical-audio';
const notConfiguredDelayMs = 900_000;
/** Progress after each phase, in percent. */
const fetchedPercent = 5;
const preparedPercent = 20;
const transcribedPercent = 95;
const rowsBetweenPauses = 500;

export function createAudioTranscription(deps: AudioTranscriptionDependencies): PipelineWorker {
  return pipelineWorker(declaration, async (step) => {
    try {
      await transcribeAudio(deps, step);
    } catch (error) {
      throw toJobError(error, step);
    }
  });
}

/** Converts an error for the job runner. Permanent errors end the job; unavailability follows the retry policy. */
function toJobError(error: unknown, { run }: Step): unknown {
  if (error instanceof InstallRefused) return new AppError({ code: 'internal', message: error.message });
  if (error instanceof FfmpegError) {
    run.logger.warn({ output: error.output }, error.message);
    return error.isKilled
      ? unavailable(error.message)
      : new PermanentJobError(`${error.message} on this audio; see the log for its output`);
  }
  if (!(error instanceof ModelFailure)) return error;
  if (error.kind === 'cancelled') return run.signal.reason;
  if (error.status === 400 || error.status === 413 || error.status === 415 || error.status === 422) {
    return new PermanentJobError(`the transcription was refused: ${error.message}`);
  }
  if (error.retryAfter !== undefined) return new RetryLater(error.message, { delayMs: error.retryAfter * 1_000 });
  return unavailable(error.message);
}

async function transcribeAudio(deps: AudioTranscriptionDependencies, step: Step): Promise<void> {
  const { run, conversationId, config } = step;
  const source = await readSource(deps.bus, run);
  if (source === undefined) return finish(deps, step, () => Promise.resolve('conversation_gone'));
  // The check is repeated under the lock. This first check only avoids unnecessary work.
  if (!config.replace_existing && (await readEvidenceState(deps.db, conversationId)).hasRows) {
    return finish(deps, step, () => Promise.resolve('kept'));
  }
  const checked = parseWindow(source.window);
  if (checked.kind !== 'usable') {
    const status = checked.kind === 'missing' ? 'transcript_window_missing' : 'invalid_transcript_window';
    return finish(deps, step, (tx) => recordResult(deps.eventOutbox, tx, conversationId, { status }));
  }
  const transcribed = await transcribe(deps, step, checked.window);
  run.progress(transcribedPercent, 'installing rows');
  await finish(deps, step, (tx) => install(deps, tx, step, transcribed, source.participants), transcribed);
}

async function transcribe(deps: AudioTranscriptionDependencies, step: Step, window: Window): Promise<Transcribed> {
  const { run, conversationId, config } = step;
  const { transcriber } = deps;
  if (transcriber === undefined) {
    throw new RetryLater('LLM_BASE_URL and TRANSCRIPTION_MODEL are not set', { delayMs: notConfiguredDelayMs });
  }
  const { audio } = await deps.bus.call(media.rpcs.getAudioMetadata, { conversation_id: conversationId }, run.context);
  if (audio === null) throw unavailable('the conversation has no audio yet');
  return deps.scratch.run(async (folder) => {
    const file = join(folder, 'audio');
    run.progress(0, 'fetching the audio');
    const fetched = await fetchAudio(deps, conversationId, file, {
      context: run.context,
      signal: run.signal,
      onProgress: (bytes) => run.progress((bytes / audio.size_bytes) * fetchedPercent),
    });
    const { audioStart, range } = locateWindow(window, config.audio_offset_seconds);
    const length = range.end - range.start;
    run.progress(fetchedPercent, 'preparing the audio');
    const parts = await prepareAudio(deps.ffmpeg, file, {
      folder,
      range,
      limits: {
        maxSeconds: deps.config.TRANSCRIPTION_PART_SECONDS,
        minSeconds: deps.config.TRANSCRIPTION_PART_SECONDS / 2,
      },
      signal: run.signal,
      onProgress: (seconds) =>
        run.progress(fetchedPercent + Math.min(1, seconds / length) * (preparedPercent - fetchedPercent)),
    });
    const reportProgress = (done: number): void => {
      const share = parts.length === 0 ? 1 : done / parts.length;
      run.progress(
        preparedPercent + share * (transcribedPercent - preparedPercent),
        `transcribed ${done} of ${parts.length} parts`,
      );
    };
    reportProgress(0);
    const { language, vocabulary } = config;
    const rows = await transcribeParts(transcriber, parts, {
      window,
      audioStart,
      range,
      language,
      vocabulary,
      signal: run.signal,
      onProgress: reportProgress,
    });
    return {
      ...rows,
      artifact: { format: null, sessionId: audioSessionId, sessionStart: audioStart, ...fetched },
      window,
      parts: parts.length,
    };
  });
}

/** Returns the window in seconds of the audio file, which starts `offsetSeconds` after the conversation. */
export function locateWindow(window: Window, offsetSeconds: number): { audioStart: bigint; range: AudioRange } {
  const audioStart = window.start + BigInt(Math.round(offsetSeconds * 1e6));
  const seconds = (instant: bigint): number => Math.max(0, Number(instant - audioStart) / 1e6);
  return { audioStart, range: { start: seconds(window.start), end: seconds(window.end) } };
}

async function install(
  { jobs, eventOutbox }: AudioTranscriptionDependencies,
  tx: Tx,
  step: Step,
  { rows, counts, artifact, window }: Transcribed,
  participants: readonly RoomParticipant[],
): Promise<TranscriptionStatus> {
  const { conversationId } = step;
  if (!(await lockForWriting(tx, conversationId))) return 'conversation_gone';
  if (!step.config.replace_existing && (await readEvidenceState(tx, conversationId)).hasRows) return 'kept';
  const result = { artifact, window, counts };
  await rowsChanged(jobs, tx, [conversationId]);
  if (counts.accepted === 0) {
    return recordResult(eventOutbox, tx, conversationId, {
      ...result,
      status: 'transcript_window_empty',
      installedSegments: null,
    });
  }
  const speakers = new SpeakerCollector();
  for (const [position, row] of rows.entries()) speakers.add(row, position);
  const { segments: installedSegments, changed } = await installTranscript(tx, conversationId, {
    speakers: speakers.inOrder(),
    participants,
    accepted: counts.accepted,
    writeRows: async (sink) => {
      for (const [position, row] of rows.entries()) {
        sink.add(row, position);
        if (position % rowsBetweenPauses === 0) await sink.pause();
      }
    },
  });
  const imported: RunResult = { ...result, status: 'imported', installedSegments };
  return recordResult(eventOutbox, tx, conversationId, imported, changed);
}

async function finish(
  deps: AudioTranscriptionDependencies,
  step: Step,
  work: (tx: Tx) => Promise<TranscriptionStatus>,
  transcribed?: Transcribed,
): Promise<void> {
  let status: TranscriptionStatus = 'conversation_gone';
  await step.finish(async (tx) => {
    status = await work(tx);
    return describe(status, transcribed);
  });
  deps.countTranscription(status);
  step.run.logger.info({ conversationId: step.conversationId, status }, 'audio transcription finished');
}

function describe(status: TranscriptionStatus, transcribed: Transcribed | undefined): PipelineOutcome {
  if (status === 'conversation_gone') return { result: { status }, note: null, succeeded: false };
  if (status === 'kept') {
    return {
      result: { status },
      note: `${declaration.name} finished: the existing transcript is kept`,
      succeeded: true,
    };
  }
  const rows =
    transcribed === undefined
      ? ''
      : `; ${transcribed.counts.accepted} of ${transcribed.counts.raw} rows lie in the window`;
  const parts = transcribed === undefined ? {} : { parts: transcribed.parts, sha256: transcribed.artifact.sha256 };
  return {
    result: { status, ...parts },
    note: `${declaration.name} finished: ${status}${rows}`,
    succeeded: status === 'imported',
  };
}

const fetchTimeoutMs = 1_800_000;

/** Downloads the audio. @returns SHA-256 and size of the bytes. @throws AppError unavailable; the signal's reason */
export async function fetchAudio(
  { bus, mediaOutbound, config }: Pick<Dependencies, 'bus' | 'mediaOutbound' | 'config'>,
  conversationId: number,
  file: string,
  options: { context: CallContext; signal: AbortSignal; onProgress: (bytes: number) => void },
): Promise<{ sha256: string; bytes: number }> {
  const { context, signal, onProgress } = options;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const { ticket } = await bus.call(media.rpcs.issueDownloadTicket, { conversation_id: conversationId }, context);
    const reply = await mediaOutbound.request({
      url: new URL(mediaPaths.conversationAudio(conversationId), config.MEDIA_INTERNAL_URL).href,
      headers: { 'request-id': context.requestId, ticket },
      maxBytes: maxAudioBytes,
      timeoutMs: fetchTimeoutMs,
      signal,
    });
    if (reply.status !== 200) {
      reply.discard();
      throw unavailable(`the media service answered ${reply.status} for the audio`);
    }
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of reply.body) {
        hash.update(chunk);
        bytes += chunk.byteLength;
        onProgress(bytes);
        yield chunk;
      }
    };
    await pipeline(counted, createWriteStream(file), { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OutboundError) throw unavailable(`the audio could not be fetched: ${error.message}`);
    throw error;
  }
  return { sha256: hash.digest('hex'), bytes };
}
