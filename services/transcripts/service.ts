/** Composition of the transcripts service: database, bus, jobs, the way out to the meeting provider. */
import { createActorVerifier } from '#libs/actor';
import { audioInput, createFfmpeg, createScratch } from '#libs/ffmpeg';
import { createJobs, type JobTuning } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { connectBus, createBusMetrics } from '#libs/nats';
import { createTranscriber } from '#libs/openai';
import { createDatabase, measurePool, waitForMigrations } from '#libs/orm';
import { createOutbound, type Outbound } from '#libs/outbound';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { consumeProviderNews, createPipelineWorkers, type PipelineExtension } from '#libs/pipeline-worker';
import { createMeetingProvider, type MeetingProvider } from '#libs/realtimekit';
import { createTelemetry } from '#libs/telemetry';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { importStatuses, transcripts } from '#services/transcripts';
import type { TranscriptsConfig } from './config.ts';
import { consumeDeletions, forgetConversation } from './deletion/workers.ts';
import { createHandlers } from './handlers.ts';
import { countOverdueImports } from './import/statements.ts';
import { createTranscriptImport } from './import/workers.ts';
import { migrations } from './migrations/index.ts';
import { createAudioTranscription } from './transcription/workers.ts';

export interface TranscriptsOptions {
  config: TranscriptsConfig;
  logger?: Logger;
  pipeline?: PipelineExtension;
  /** Times of the machinery; tests that kill processes shorten them. */
  tuning?: Partial<JobTuning>;
}

export async function createService({ config, logger: given, pipeline, tuning }: TranscriptsOptions): Promise<Service> {
  const logger = given ?? createLogger({ service: 'transcripts', level: config.LOG_LEVEL });
  const db = await createDatabase({
    url: config.DATABASE_URL,
    schema: 'transcripts',
    poolSize: config.DATABASE_POOL_SIZE,
    logger,
    applicationName: 'transcripts',
  });
  const telemetry = createTelemetry({
    service: 'transcripts',
    logger,
    settings: config,
    checks: { postgresql: () => db.ping(), nats: () => bus.ping() },
  });
  measurePool(telemetry.metrics, db);
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.REALTIMEKIT_BASE_URL],
    metrics: telemetry.metrics,
  });
  // Apart from the one above: addresses that the provider names must not lead into the platform.
  const inside = createOutbound({ allowedHosts: '', baseUrls: [config.MEDIA_INTERNAL_URL] });
  const bus = await connectBus({
    url: config.NATS_URL,
    name: 'transcripts',
    caller: 'transcripts',
    actors: createActorVerifier(config.ACTOR_PUBLIC_KEY),
    prefix: config.NATS_SUBJECT_PREFIX,
    checkReplies: config.CHECK_REPLIES,
    logger,
    metrics: createBusMetrics(telemetry.metrics),
  });
  const registry = pipeline?.registry ?? pipelineJobs;
  const contract = {
    ...transcripts,
    jobs: { ...jobsOf('transcripts', registry), forgetConversation: transcripts.jobs.forgetConversation },
  };
  const jobs = createJobs({ contract, db, bus, logger, metrics: telemetry.metrics, tuning });
  const imports = telemetry.metrics.counter('transcript_imports_total', 'Finished transcript imports by status', {
    status: importStatuses,
  });
  const transcriptions = telemetry.metrics.counter('audio_transcriptions_total', 'Finished transcriptions of audio by status', ['status']);
  telemetry.metrics.gauge(
    'transcript_imports_overdue',
    'Conversations whose window has been complete for two hours without an imported transcript, last seven days',
    [],
    async (gauge) => gauge.set(await countOverdueImports(db)),
  );
  const provider = configureProvider(config, outbound);
  if (provider === undefined) logger.warn('REALTIMEKIT_BASE_URL is not set: transcript imports wait');
  const scratch = createScratch(config.TRANSCRIPTION_SCRATCH_DIR, 'audio', logger);
  const stopping: (() => Promise<void>)[] = [];

  return {
    start: async () => {
      await telemetry.start();
      await waitForMigrations({ db, schema: 'transcripts', migrations, logger });
      await bus.waitForStreams();
      const responder = await bus.serve(transcripts, createHandlers({ bus, db, jobs }));
      stopping.push(() => responder.drain());
      const contracts = { getStepConfig: directory.rpcs.getStepConfig, pipelineFinished: conversations.jobs.pipelineFinished };
      await scratch.clean();
      const workers = [
        createTranscriptImport({ db, bus, provider, onFinished: (status) => imports.inc({ status }, 1) }),
        createAudioTranscription({
          db,
          bus,
          outbound: inside,
          mediaUrl: config.MEDIA_INTERNAL_URL,
          ffmpeg: createFfmpeg(config.FFMPEG_PATH, audioInput),
          scratch,
          transcriber: configureTranscriber(config),
          partSeconds: config.TRANSCRIPTION_PART_SECONDS,
          onFinished: (status) => transcriptions.inc({ status }, 1),
        }),
      ];
      await jobs.work({
        forgetConversation,
        ...createPipelineWorkers({ bus, jobs, contracts }, [...workers, ...(pipeline?.workers ?? [])]),
      });
      const { meetingReported } = conversations.events;
      const news = await consumeProviderNews({
        service: 'transcripts',
        bus,
        jobs,
        logger,
        registry,
        consumer: transcripts.consumers.meetingReported,
        meetingReported,
      });
      stopping.push(async () => {
        await news.stop();
        await jobs.stop();
      });
      const deletions = await consumeDeletions({ bus, db, logger });
      stopping.push(() => deletions.stop());
      telemetry.started();
      logger.info({ metricsPort: telemetry.port }, 'transcripts is ready');
    },
    stop: async () => {
      telemetry.draining();
      await Promise.all(stopping.map((stop) => stop()));
      await bus.close();
      await db.close();
      await outbound.close();
      await inside.close();
      await telemetry.stop();
    },
  };
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

function configureTranscriber(config: TranscriptsConfig): ReturnType<typeof createTranscriber> | undefined {
  if (config.LLM_BASE_URL === '' || config.TRANSCRIPTION_MODEL === '') return undefined;
  return createTranscriber({
    baseUrl: config.LLM_BASE_URL,
    apiKey: config.LLM_API_KEY,
    model: config.TRANSCRIPTION_MODEL,
    timeoutMs: config.TRANSCRIPTION_TIMEOUT_MS,
  });
}
