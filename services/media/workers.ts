/** Job handlers of the media service, and the external programs and servers that the handlers use. */
import { createFfmpeg, createScratchDirectory, ffmpegMissingMessage } from '#libs/infrastructure/ffmpeg';
import type { JobHandler, OnDead } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';
import type { RunningConsumer } from '#libs/infrastructure/nats';
import { createOutbound, type Outbound } from '#libs/infrastructure/outbound';
import { jobsOf, pipelineJobs, type PipelineRegistry } from '#libs/product/pipeline';
import {
  consumeProviderEvents,
  createPipelineWorkers,
  noteDeadJobs,
  type PipelineExtension,
} from '#libs/product/pipeline-worker';
import { createMeetingProvider, type MeetingProvider } from '#libs/product/realtimekit';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { cleanUpJobs } from './clean-up/contract.ts';
import { createCleanUpWorkers } from './clean-up/workers.ts';
import type { MediaConfig } from './config.ts';
import { media } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { logoJobs } from './logos/contract.ts';
import { createLogoWorkers } from './logos/workers.ts';
import { createRecordingImport } from './recording/workers.ts';
import { createCaptionWorkers, noteDeadCaptions } from './videohost/captions.ts';
import { videohostJobs } from './videohost/contract.ts';
import { createVideohostPublish } from './videohost/workers.ts';
import { createYoutube } from './videohost/youtube.ts';

const stepContracts = {
  getStepConfig: directory.rpcs.getStepConfig,
  pipelineFinished: conversations.jobs.pipelineFinished,
};

/** Returns the service's contract with the pipeline jobs of the registry. */
export function jobContract(pipeline: PipelineExtension | undefined) {
  return {
    ...media,
    jobs: { ...jobsOf('media', jobRegistry(pipeline)), ...cleanUpJobs, ...logoJobs, ...videohostJobs },
  };
}

function jobRegistry(pipeline: PipelineExtension | undefined): PipelineRegistry {
  return pipeline?.registry ?? pipelineJobs;
}

/** Returns the job handlers by job type. */
export function createWorkers(
  deps: Dependencies,
  pipeline: PipelineExtension | undefined,
): Record<string, JobHandler<never>> {
  const { bus, jobs } = deps;
  const pipelineWorkers = [createRecordingImport(deps), createVideohostPublish(deps), ...(pipeline?.workers ?? [])];
  return {
    ...createCleanUpWorkers(deps),
    ...createLogoWorkers(deps),
    ...createCaptionWorkers(deps),
    ...createPipelineWorkers({ bus, jobs, contracts: stepContracts }, pipelineWorkers),
  };
}

/** Returns the function that adds a note to the conversation of a dead job. */
export function createOnDead(
  { bus, jobs }: Pick<Dependencies, 'bus' | 'jobs'>,
  pipeline: PipelineExtension | undefined,
): OnDead {
  const notePipeline = noteDeadJobs({ bus, jobs, contracts: stepContracts }, jobRegistry(pipeline));
  return async (tx, job) => {
    await notePipeline(tx, job);
    await noteDeadCaptions(jobs, tx, job);
  };
}

/** Starts pipeline jobs when the provider reports that a meeting has ended. */
export function consumeMeetingEvents(
  { bus, jobs, logger }: Pick<Dependencies, 'bus' | 'jobs' | 'logger'>,
  pipeline: PipelineExtension | undefined,
): Promise<RunningConsumer> {
  return consumeProviderEvents({
    service: 'media',
    bus,
    jobs,
    logger,
    registry: jobRegistry(pipeline),
    consumer: media.consumers.meetingReported,
    meetingReported: conversations.events.meetingReported,
  });
}

export interface ExternalTools extends Pick<Dependencies, 'ffmpeg' | 'scratch' | 'provider' | 'connectVideoHost'> {
  /** Logs which tools are missing, and empties the scratch folder. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

export function createExternalTools(
  config: MediaConfig,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): ExternalTools {
  const ffmpeg = createFfmpeg(config.FFMPEG_PATH);
  const scratch = createScratchDirectory(config.MEDIA_SCRATCH_DIR, 'recording', logger);
  const options = { allowedHosts: config.OUTBOUND_ALLOWED_HOSTS, metrics };
  const providerOutbound = createOutbound({ ...options, baseUrls: [config.REALTIMEKIT_BASE_URL] });
  const videoHostOutbound = createOutbound({
    ...options,
    baseUrls: [config.YOUTUBE_API_URL, config.YOUTUBE_TOKEN_URL],
    // The response to a chunk starts only after the whole chunk was received.
    headersTimeoutMs: 300_000,
  });
  const provider = configureProvider(config, providerOutbound);
  return {
    ffmpeg,
    scratch,
    provider,
    connectVideoHost: configureVideoHost(config, videoHostOutbound),
    prepare: async () => {
      if (provider === undefined) logger.warn('REALTIMEKIT_BASE_URL is not set: recording imports wait');
      if ((await ffmpeg.version()) === undefined) logger.warn(ffmpegMissingMessage);
      await scratch.sweep();
    },
    close: async () => {
      await providerOutbound.close();
      await videoHostOutbound.close();
    },
  };
}

function configureProvider(config: MediaConfig, outbound: Outbound): MeetingProvider | undefined {
  if (config.REALTIMEKIT_BASE_URL === undefined) return undefined;
  return createMeetingProvider({
    outbound,
    baseUrl: config.REALTIMEKIT_BASE_URL,
    apiToken: config.REALTIMEKIT_API_TOKEN,
    maxDownloadBytes: config.MEDIA_RECORDING_MAX_BYTES,
    downloadTimeoutMs: config.MEDIA_RECORDING_DOWNLOAD_TIMEOUT_SECONDS * 1000,
  });
}

function configureVideoHost(config: MediaConfig, outbound: Outbound): Dependencies['connectVideoHost'] {
  const { YOUTUBE_CLIENT_ID: clientId, YOUTUBE_CLIENT_SECRET: clientSecret } = config;
  if (clientId === '' || clientSecret === '') return undefined;
  const client = {
    outbound,
    apiUrl: config.YOUTUBE_API_URL,
    tokenUrl: config.YOUTUBE_TOKEN_URL,
    clientId,
    clientSecret,
  };
  return (refreshToken) => createYoutube({ ...client, refreshToken });
}
