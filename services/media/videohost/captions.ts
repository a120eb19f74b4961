/**
 * Jobs `media.follow-transcripts` and `media.send-captions` (T4, T5). They update the captions on the video host when
 * the transcript changes, so that words removed from the transcript are removed from the captions. When the host
 * rejects captions, the video remains published and a note is added to the conversation.
 */
import { createHash } from 'node:crypto';
import type { PayloadOf } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import {
  type DeadJob,
  type JobHandler,
  type JobRun,
  type Jobs,
  PermanentJobError,
  RetryLater,
} from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { videohostPublish, type VideohostPublishConfig } from '#libs/product/pipeline';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { transcripts } from '#services/transcripts';
import type { Dependencies } from '../dependencies.ts';
import { videohostJobs } from './contract.ts';
import { claimedElsewhere, withUploadClaim } from './upload.ts';
import { claimVideo, listPublished, listVideos, saveCaptions } from './statements.ts';
import { type CaptionLabel, type PublishedVideo, type VideoHost, VideoHostError } from '../video-host.ts';

type CaptionsDependencies = Pick<Dependencies, 'db' | 'bus' | 'jobs' | 'connectVideoHost'>;

type Run = JobRun<PayloadOf<typeof videohostJobs.sendCaptions>>;
type Video = Awaited<ReturnType<typeof listVideos>>[number];

/** Result of sending the captions of one video. */
interface Outcome {
  readonly status: 'sent' | 'replaced' | 'removed' | 'unchanged' | 'none' | 'off' | 'not_connected' | 'refused';
  readonly reason?: string;
}

/** Maximum size of captions, which are read into memory. The host accepts up to 100 MB. */
const maxCaptionBytes = 16 * 1_048_576;
const captionsName = 'Transcript';

type CaptionWorkers = { readonly [K in keyof typeof videohostJobs]: JobHandler<PayloadOf<(typeof videohostJobs)[K]>> };

export function createCaptionWorkers(deps: CaptionsDependencies): CaptionWorkers {
  const { db, jobs } = deps;
  return {
    followTranscripts: (run) =>
      run.complete(async (tx) => {
        for (const { id } of await listPublished(tx, { ids: run.payload.conversation_ids }))
          await enqueueCaptions(jobs, tx, id);
      }),
    sendCaptions: async (run) => {
      const { conversation_id: conversationId } = run.payload;
      const outcomes: (Outcome & { stepId: number })[] = [];
      for (const video of await listVideos(db, { conversationId })) {
        outcomes.push({ ...(await syncCaptions(deps, run, video)), stepId: video.step_id });
      }
      await run.complete(async (tx) => {
        for (const { reason, stepId } of outcomes)
          if (reason !== undefined) await addNote(jobs, tx, run, stepId, reason);
        return { captions: outcomes.map(({ status }) => status) };
      });
    },
  };
}

/** Enqueues a job that sends the captions. All changes until the job runs share this job. */
export async function enqueueCaptions(jobs: Pick<Jobs, 'enqueue'>, tx: Tx, conversationId: number): Promise<void> {
  await jobs.enqueue(
    tx,
    videohostJobs.sendCaptions,
    { conversation_id: conversationId },
    { key: String(conversationId) },
  );
}

/** Updates the captions of one video to match the transcript. */
async function syncCaptions(deps: CaptionsDependencies, run: Run, video: Video): Promise<Outcome> {
  const config = await readConfig(deps.bus, video.step_id, run);
  const language = config?.captions_language ?? '';
  // Captions that were already sent are updated even when captions are turned off in the step.
  if (language === '' && video.captions_id === null) return { status: 'off' };
  const token = config?.videohost_refresh_token;
  const current = await readCaptions(deps.bus, run, video.started_at);
  if (current.sha256 === video.captions_sha256) return { status: current.sha256 === null ? 'none' : 'unchanged' };
  if (deps.connectVideoHost === undefined || token === undefined) return { status: 'not_connected' };
  const host = deps.connectVideoHost(token);
  const key = { conversationId: run.payload.conversation_id, sha256: video.sha256, jobId: run.id };
  return withUploadClaim({ db: deps.db, key, logger: run.logger, claim: claimVideo }, async (video, lost) => {
    // The captions are read again under the claim, because another job may have sent newer captions meanwhile.
    const { file, sha256 } = await readCaptions(deps.bus, run, video.started_at);
    if (file === 'too_large') return { status: 'refused', reason: `larger than ${maxCaptionBytes} bytes` };
    const { id: videoId } = JSON.parse(video.video) as PublishedVideo;
    const target = { videoId, captionsId: video.captions_id, label: { language, name: captionsName } };
    try {
      const { status, captionsId } = await send(host, target, file, AbortSignal.any([run.signal, lost]));
      if ((await saveCaptions(deps.db, { ...key, captionsId, captionsSha256: sha256 })) === undefined)
        throw claimedElsewhere();
      return { status };
    } catch (error) {
      if (error instanceof VideoHostError && error.kind === 'refused')
        return { status: 'refused', reason: error.message };
      throw toJobError(error);
    }
  });
}

async function send(
  { captions }: VideoHost,
  { videoId, captionsId, label }: { videoId: string; captionsId: string | null; label: CaptionLabel },
  file: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<{ status: Outcome['status']; captionsId: string | null }> {
  if (file === undefined) {
    if (captionsId !== null) await captions.remove(captionsId, signal);
    return { status: 'removed', captionsId: null };
  }
  if (captionsId !== null && (await captions.replace(captionsId, file, signal)))
    return { status: 'replaced', captionsId };
  // The host has no captions of the video, and captions are turned off.
  if (label.language === '') return { status: 'removed', captionsId: null };
  return { status: 'sent', captionsId: await captions.add(videoId, label, file, signal) };
}

/** Returns the configuration of the step; returns undefined when the step was deleted or has another job now. */
async function readConfig(bus: Bus, stepId: number, run: Run): Promise<VideohostPublishConfig | undefined> {
  try {
    const step = await bus.call(directory.rpcs.getStepConfig, { step_id: stepId }, run.context);
    return step.pipeline_job === videohostPublish.name ? (step.config as VideohostPublishConfig) : undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

interface Captions {
  /** WebVTT file; undefined when the conversation has no transcript. */
  readonly file: Buffer | 'too_large' | undefined;
  readonly sha256: string | null;
}

async function readCaptions(bus: Bus, run: Run, startedAt: string | null): Promise<Captions> {
  try {
    const request = { conversation_id: run.payload.conversation_id, video_started_at: startedAt };
    const reply = await bus.callRaw(transcripts.rpcs.caption, request, run.context);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of reply.kind === 'bytes' ? [reply.bytes] : reply.chunks) {
      size += part.byteLength;
      if (size > maxCaptionBytes) return { file: 'too_large', sha256: '' };
      parts.push(part);
    }
    const file = Buffer.concat(parts, size);
    return { file, sha256: createHash('sha256').update(file).digest('hex') };
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return { file: undefined, sha256: null };
    throw error;
  }
}

async function addNote(jobs: Pick<Jobs, 'enqueue'>, tx: Tx, run: Run, stepId: number, reason: string): Promise<void> {
  const { id, requestId, payload } = run;
  const text = `${videohostPublish.name}: the video host rejected the captions: ${reason}`;
  await report(jobs, tx, { conversationId: payload.conversation_id, stepId, key: `${id}:captions`, text, requestId });
}

/** Adds a note when a job that sends captions is dead. Other jobs are ignored. */
export async function noteDeadCaptions(jobs: Pick<Jobs, 'enqueue'>, tx: Tx, job: DeadJob): Promise<void> {
  if (job.type !== videohostJobs.sendCaptions.type) return;
  const { conversation_id: conversationId } = job.payload as Run['payload'];
  const text = `${videohostPublish.name}: sending the captions failed: ${job.error}`;
  await report(jobs, tx, {
    conversationId,
    stepId: null,
    key: `${job.id}:failed:${job.lease}`,
    text,
    requestId: job.requestId,
  });
}

async function report(
  jobs: Pick<Jobs, 'enqueue'>,
  tx: Tx,
  {
    conversationId,
    stepId,
    key,
    text,
    requestId,
  }: { conversationId: number; stepId: number | null; key: string; text: string; requestId: string | null },
): Promise<void> {
  const payload = {
    conversation_id: conversationId,
    step_id: stepId,
    pipeline_job: videohostPublish.name,
    note_key: key,
    note: text,
    advance: false,
  };
  await jobs.enqueue(tx, conversations.jobs.pipelineFinished, payload, requestId === null ? {} : { requestId });
}

/**
 * Converts an error to its effect on the job: rate limits delay the job, permanent errors end it, other errors follow
 * the retry policy.
 */
export function toJobError(error: unknown): unknown {
  if (!(error instanceof VideoHostError)) return error;
  if (error.kind === 'busy')
    return new RetryLater(error.message, error.retryAfterMs === undefined ? {} : { delayMs: error.retryAfterMs });
  return error.kind === 'away' ? unavailable(error.message) : new PermanentJobError(error.message);
}
