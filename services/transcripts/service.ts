/**
 * Composes the transcripts service: database, bus, jobs, and clients of the meeting provider, the media service and the
 * model server.
 */
import { audioInput, createFfmpeg, createScratchDirectory } from '#libs/infrastructure/ffmpeg';
import type { JobTuning } from '#libs/infrastructure/jobs';
import type { Service } from '#libs/infrastructure/lifecycle';
import type { Logger } from '#libs/infrastructure/logger';
import { createTranscriber, type Transcriber } from '#libs/infrastructure/openai';
import { createOutbound, type Outbound } from '#libs/infrastructure/outbound';
import { jobsOf, pipelineJobs } from '#libs/product/pipeline';
import {
  consumeProviderEvents,
  createPipelineWorkers,
  noteDeadJobs,
  type PipelineExtension,
} from '#libs/product/pipeline-worker';
import { createMeetingProvider, type MeetingProvider } from '#libs/product/realtimekit';
import { createServiceRuntime } from '#libs/infrastructure/service';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { cleanUpJobs } from './clean-up/contract.ts';
import { consumeDeletions, createCleanUpWorkers, enqueueCatchUp } from './clean-up/workers.ts';
import type { TranscriptsConfig } from './config.ts';
import { transcripts } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { importStatuses } from './evidence/contract.ts';
import { checkTranscriptFormat } from './evidence/format-check.ts';
import { createHandlers } from './handlers.ts';
import { countOverdueImports } from './import/statements.ts';
import { createTranscriptImport } from './import/workers.ts';
import { searchJobs } from './search/contract.ts';
import { consumeChanges, createIndexTranscripts, indexMissingTranscripts } from './search/workers.ts';
import { createAudioTranscription } from './transcription/workers.ts';

export interface TranscriptsOptions {
  readonly config: TranscriptsConfig;
  readonly logger?: Logger;
  readonly pipeline?: PipelineExtension;
  /** Intervals and timeouts of jobs; tests that kill processes shorten them. */
  readonly tuning?: Partial<JobTuning>;
  /** Maximum duration of an indexing run; another job then indexes the remaining transcripts. Tests shorten it. */
  readonly maxIndexRunMs?: number;
}

export async function createService({
  config,
  logger,
  pipeline,
  tuning,
  maxIndexRunMs,
}: TranscriptsOptions): Promise<Service> {
  const registry = pipeline?.registry ?? pipelineJobs;
  const jobContract = { ...transcripts, jobs: { ...jobsOf('transcripts', registry), ...cleanUpJobs, ...searchJobs } };
  const runtime = await createServiceRuntime({ contract: transcripts, jobContract, config, logger, tuning });
  const { db, bus, jobs, metrics, eventOutbox } = runtime;
  const providerOutbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.REALTIMEKIT_BASE_URL],
    metrics,
  });
  // The media service has a separate client, so that addresses from the provider cannot reach the platform's own
  // servers.
  const mediaOutbound = createOutbound({ allowedHosts: '', baseUrls: [config.MEDIA_INTERNAL_URL] });
  runtime.onClose(() => providerOutbound.close());
  runtime.onClose(() => mediaOutbound.close());
  const imports = metrics.counter('transcript_imports_total', 'Finished transcript imports by status', {
    status: importStatuses,
  });
  const transcriptions = metrics.counter('audio_transcriptions_total', 'Finished transcriptions of audio by status', [
    'status',
  ]);
  metrics.gauge(
    'transcript_imports_overdue',
    'Conversations of the last seven days without an imported transcript two hours after their window was complete',
    [],
    async (gauge) => gauge.set((await countOverdueImports(db)).overdue),
  );
  const provider = configureProvider(config, providerOutbound);
  if (provider === undefined) runtime.logger.warn('REALTIMEKIT_BASE_URL is not set: transcript imports wait');
  const deps: Dependencies = {
    config,
    db,
    bus,
    jobs,
    eventOutbox,
    logger: runtime.logger,
    provider,
    mediaOutbound,
    ffmpeg: createFfmpeg(config.FFMPEG_PATH, audioInput),
    scratch: createScratchDirectory(config.TRANSCRIPTION_SCRATCH_DIR, 'audio', runtime.logger),
    transcriber: configureTranscriber(config),
    countImport: (status) => imports.inc({ status }, 1),
    countTranscription: (status) => transcriptions.inc({ status }, 1),
  };

  runtime.setChecks([{ name: 'transcripts of the provider', needed: false, examine: () => checkTranscriptFormat(db) }]);
  return runtime.service(async () => {
    await runtime.serve(createHandlers(deps));
    const contracts = {
      getStepConfig: directory.rpcs.getStepConfig,
      pipelineFinished: conversations.jobs.pipelineFinished,
    };
    await deps.scratch.sweep();
    const pipelineWorkers = [
      createTranscriptImport(deps),
      createAudioTranscription(deps),
      ...(pipeline?.workers ?? []),
    ];
    await jobs.work(
      {
        ...createCleanUpWorkers(deps),
        indexTranscripts: createIndexTranscripts(deps, maxIndexRunMs),
        ...createPipelineWorkers({ bus, jobs, contracts }, pipelineWorkers),
      },
      { onDead: noteDeadJobs({ bus, jobs, contracts }, registry) },
    );
    const meetingEvents = await consumeProviderEvents({
      service: 'transcripts',
      bus,
      jobs,
      logger: deps.logger,
      registry,
      consumer: transcripts.consumers.meetingReported,
      meetingReported: conversations.events.meetingReported,
    });
    runtime.stopBeforeWorkers(meetingEvents);
    runtime.stopBeforeWorkers(await consumeDeletions(deps));
    runtime.stopBeforeWorkers(await consumeChanges(deps));
    await runtime.prepare(() => indexMissingTranscripts(deps));
    await runtime.catchUp(() => enqueueCatchUp(jobs));
  });
}

function configureProvider(config: TranscriptsConfig, outbound: Outbound): MeetingProvider | undefined {
  if (config.REALTIMEKIT_BASE_URL === undefined) return undefined;
  return createMeetingProvider({
    outbound,
    baseUrl: config.REALTIMEKIT_BASE_URL,
    apiToken: config.REALTIMEKIT_API_TOKEN,
    maxDownloadBytes: config.TRANSCRIPT_MAX_BYTES,
    downloadTimeoutMs: config.TRANSCRIPT_DOWNLOAD_TIMEOUT_SECONDS * 1000,
  });
}

function configureTranscriber(config: TranscriptsConfig): Transcriber | undefined {
  if (config.LLM_BASE_URL === '' || config.TRANSCRIPTION_MODEL === '') return undefined;
  return createTranscriber({
    baseUrl: config.LLM_BASE_URL,
    apiKey: config.LLM_API_KEY,
    model: config.TRANSCRIPTION_MODEL,
    timeoutMs: config.TRANSCRIPTION_TIMEOUT_MS,
  });
}
