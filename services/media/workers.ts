/** The jobs that the service works, and what they stand on: the meeting provider, ffmpeg, the scratch folder, the video host. */
import { jobsOf, pipelineJobs, type PipelineRegistry } from '#libs/pipeline';
import { consumeProviderEvents, createPipelineWorkers, noteDeadJobs, type PipelineExtension } from '#libs/pipeline-worker';
import type { EventOutbox } from '#libs/feed';
import type { JobHandler, Jobs, OnDead } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { Metrics } from '#libs/telemetry';
import type { Bus, RunningConsumer } from '#libs/nats';
import type { ObjectStore } from '#libs/object-store';
import type { Database } from '#libs/orm';
import { createOutbound, type Outbound } from '#libs/outbound';
import { createMeetingProvider } from '#libs/realtimekit';
import { systemClock } from '#libs/time';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { cleanUpJobs } from './clean-up/contract.ts';
import { createCatchUp, createDeleteBlob, createFollowConversation } from './clean-up/workers.ts';
import type { MediaConfig } from './config.ts';
import { media } from './contract.ts';
import { createRecordingImport } from './recording/workers.ts';
import { createFollowTranscripts, createSendCaptions, noteDeadCaptions } from './videohost/captions.ts';
import { videohostJobs } from './videohost/contract.ts';
import type { VideoHost } from './videohost/video-host.ts';
import { createVideohostPublish } from './videohost/workers.ts';
import { createYoutube } from './videohost/youtube.ts';
import { createFfmpeg, createScratchDirectory, ffmpegMissingMessage, type Ffmpeg } from '#libs/ffmpeg';

export interface Workers {
  readonly ffmpeg: Ffmpeg;
  /** What a dead job leaves on its conversation. */
  onDead(jobs: Jobs, bus: Bus): OnDead;
  /** Handlers by job type. */
  handlers(jobs: Jobs, bus: Bus, eventOutbox: EventOutbox): Record<string, JobHandler<never>>;
  /** Empties the scratch folder, warns when ffmpeg is missing, and begins to consume the provider's events. */
  start(jobs: Jobs, bus: Bus): Promise<RunningConsumer>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  readonly config: MediaConfig;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pipeline: PipelineExtension | undefined;
  readonly sweepSoon: () => void;
}

/** The service's contract with the jobs of the registry. */
export function contractWith(pipeline: PipelineExtension | undefined) {
  return {
    ...media,
    jobs: { ...jobsOf('media', registryOf(pipeline)), ...cleanUpJobs, ...videohostJobs },
  };
}

function registryOf(pipeline: PipelineExtension | undefined): PipelineRegistry {
  return pipeline?.registry ?? pipelineJobs;
}

export function createWorkers({ config, db, store, logger, metrics, pipeline, sweepSoon }: WorkerOptions): Workers {
  const ffmpeg = createFfmpeg(config.FFMPEG_PATH);
  const scratch = createScratchDirectory(config.MEDIA_SCRATCH_DIR, 'recording', logger);
  const guards = { allowedHosts: config.OUTBOUND_ALLOWED_HOSTS, metrics };
  const outbound = createOutbound({ ...guards, baseUrls: [config.REALTIMEKIT_BASE_URL] });
  const videoHostOutbound = createOutbound({
    ...guards,
    baseUrls: [config.YOUTUBE_API_URL, config.YOUTUBE_TOKEN_URL],
    // The answer to a chunk begins when all of it has arrived.
    headersTimeoutMs: 300_000,
  });
  const provider = configureProvider(config, outbound);
  const contracts = { getStepConfig: directory.rpcs.getStepConfig, pipelineFinished: conversations.jobs.pipelineFinished };
  return {
    ffmpeg,
    onDead: (jobs, bus) => {
      const notePipeline = noteDeadJobs({ bus, jobs, contracts }, registryOf(pipeline));
      return async (tx, job) => {
        await notePipeline(tx, job);
        await noteDeadCaptions(jobs, tx, job);
      };
    },
    handlers: (jobs, bus, eventOutbox) => {
      const recordingImport = createRecordingImport({
        db,
        bus,
        jobs,
        eventOutbox,
        store,
        logger,
        provider,
        ffmpeg,
        scratch,
        sweepSoon,
        leaseSeconds: config.MEDIA_UPLOAD_LEASE_SECONDS,
        graceSeconds: config.MEDIA_REPLACED_GRACE_SECONDS,
        maxRecordingBytes: config.MEDIA_RECORDING_MAX_BYTES,
        maxScratchBytes: config.MEDIA_SCRATCH_MAX_BYTES,
      });
      const connect = configureVideoHost(config, videoHostOutbound);
      const videohostPublish = createVideohostPublish({
        db,
        bus,
        jobs,
        store,
        clock: systemClock,
        chunkBytes: config.VIDEOHOST_CHUNK_BYTES,
        connect,
      });
      return {
        deleteBlob: createDeleteBlob({ db, store }),
        followConversation: createFollowConversation({ bus, jobs, graceSeconds: config.MEDIA_REPLACED_GRACE_SECONDS }),
        catchUp: createCatchUp({ bus, db, jobs }),
        followTranscripts: createFollowTranscripts({ jobs }),
        sendCaptions: createSendCaptions({ db, bus, jobs, connect }),
        ...createPipelineWorkers({ bus, jobs, contracts }, [recordingImport, videohostPublish, ...(pipeline?.workers ?? [])]),
      };
    },
    start: async (jobs, bus) => {
      if (provider === undefined) logger.warn('REALTIMEKIT_BASE_URL is not set: recording imports wait');
      if ((await ffmpeg.version()) === undefined) logger.warn(ffmpegMissingMessage);
      await scratch.sweep();
      const { meetingReported } = conversations.events;
      return consumeProviderEvents({
        service: 'media',
        bus,
        jobs,
        logger,
        registry: registryOf(pipeline),
        consumer: media.consumers.meetingReported,
        meetingReported,
      });
    },
    close: async () => {
      await outbound.close();
      await videoHostOutbound.close();
    },
  };
}

function configureProvider(config: MediaConfig, outbound: Outbound) {
  if (config.REALTIMEKIT_BASE_URL === undefined) return undefined;
  return createMeetingProvider({
    outbound,
    baseUrl: config.REALTIMEKIT_BASE_URL,
    apiToken: config.REALTIMEKIT_API_TOKEN,
    maxDownloadBytes: config.MEDIA_RECORDING_MAX_BYTES,
    downloadTimeoutMs: config.MEDIA_RECORDING_DOWNLOAD_TIMEOUT_SECONDS * 1000,
  });
}

/** Undefined while the platform is no client of the host. */
function configureVideoHost(config: MediaConfig, outbound: Outbound): ((refreshToken: string) => VideoHost) | undefined {
  const { YOUTUBE_CLIENT_ID: clientId, YOUTUBE_CLIENT_SECRET: clientSecret } = config;
  if (clientId === '' || clientSecret === '') return undefined;
  const client = { outbound, apiUrl: config.YOUTUBE_API_URL, tokenUrl: config.YOUTUBE_TOKEN_URL, clientId, clientSecret };
  return (refreshToken) => createYoutube({ ...client, refreshToken });
}
