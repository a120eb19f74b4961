/** Composition of the transcripts service: database, bus, jobs, the way out to the meeting provider. */
import { audioInput, createFfmpeg, createScratchDirectory } from '#libs/ffmpeg';
import type { JobTuning } from '#libs/jobs';
import { createServiceRuntime } from '#libs/service';
import type { Service } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import { createTranscriber } from '#libs/openai';
import { createOutbound, type Outbound } from '#libs/outbound';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { consumeProviderEvents, createPipelineWorkers, noteDeadJobs, type PipelineExtension } from '#libs/pipeline-worker';
import { createMeetingProvider, type MeetingProvider } from '#libs/realtimekit';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { importStatuses, transcripts } from '#services/transcripts';
import type { TranscriptsConfig } from './config.ts';
import { createCatchUp, enqueueCatchUp } from './catch-up/workers.ts';
import { consumeDeletions, forget, forgetConversation } from './deletion/workers.ts';
import { createHandlers } from './handlers.ts';
import { countOverdueImports } from './import/statements.ts';
import { createTranscriptImport } from './import/workers.ts';
import { createRowsChanged } from './search/index.ts';
import { createIndexing, followConversations, indexWhatIsMissing, refresh } from './search/workers.ts';
import { createAudioTranscription } from './transcription/workers.ts';

export interface TranscriptsOptions {
  config: TranscriptsConfig;
  logger?: Logger;
  pipeline?: PipelineExtension;
  /** Times of the machinery; tests that kill processes shorten them. */
  tuning?: Partial<JobTuning>;
  /** After which a job of the index leaves the rest to the next one; tests shorten it. */
  indexTurnMs?: number;
}

export async function createService({ config, logger, pipeline, tuning, indexTurnMs }: TranscriptsOptions): Promise<Service> {
  const registry = pipeline?.registry ?? pipelineJobs;
  const jobContract = {
    ...transcripts,
    jobs: {
      ...jobsOf('transcripts', registry),
      forgetConversation: transcripts.jobs.forgetConversation,
      indexTranscripts: transcripts.jobs.indexTranscripts,
      catchUp: transcripts.jobs.catchUp,
    },
  };
  const runtime = await createServiceRuntime({ contract: transcripts, jobContract, config, logger, tuning });
  const { db, bus, jobs, metrics } = runtime;
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.REALTIMEKIT_BASE_URL],
    metrics,
  });
  // Apart from the one above: addresses that the provider names must not lead into the platform.
  const inside = createOutbound({ allowedHosts: '', baseUrls: [config.MEDIA_INTERNAL_URL] });
  runtime.onClose(() => outbound.close());
  runtime.onClose(() => inside.close());
  const imports = metrics.counter('transcript_imports_total', 'Finished transcript imports by status', {
    status: importStatuses,
  });
  const transcriptions = metrics.counter('audio_transcriptions_total', 'Finished transcriptions of audio by status', ['status']);
  metrics.gauge(
    'transcript_imports_overdue',
    'Conversations whose window has been complete for two hours without an imported transcript, last seven days',
    [],
    async (gauge) => gauge.set((await countOverdueImports(db)).overdue),
  );
  const provider = configureProvider(config, outbound);
  if (provider === undefined) runtime.logger.warn('REALTIMEKIT_BASE_URL is not set: transcript imports wait');
  const scratch = createScratchDirectory(config.TRANSCRIPTION_SCRATCH_DIR, 'audio', runtime.logger);

  return runtime.service(async () => {
    await runtime.serve(createHandlers({ bus, db, jobs, eventOutbox: runtime.eventOutbox }));
    const contracts = { getStepConfig: directory.rpcs.getStepConfig, pipelineFinished: conversations.jobs.pipelineFinished };
    await scratch.sweep();
    const rowsChanged = createRowsChanged(jobs);
    const workers = [
      createTranscriptImport({
        db,
        bus,
        eventOutbox: runtime.eventOutbox,
        provider,
        rowsChanged,
        onFinished: (status) => imports.inc({ status }, 1),
      }),
      createAudioTranscription({
        db,
        bus,
        eventOutbox: runtime.eventOutbox,
        outbound: inside,
        mediaUrl: config.MEDIA_INTERNAL_URL,
        ffmpeg: createFfmpeg(config.FFMPEG_PATH, audioInput),
        scratch,
        transcriber: configureTranscriber(config),
        partSeconds: config.TRANSCRIPTION_PART_SECONDS,
        rowsChanged,
        onFinished: (status) => transcriptions.inc({ status }, 1),
      }),
    ];
    await jobs.work(
      {
        forgetConversation,
        indexTranscripts: createIndexing({ bus, db, jobs, turnMs: indexTurnMs }),
        catchUp: createCatchUp({ bus, db, jobs, forget, refresh: (ids, context) => refresh({ bus, db }, ids, context) }),
        ...createPipelineWorkers({ bus, jobs, contracts }, [...workers, ...(pipeline?.workers ?? [])]),
      },
      { onDead: noteDeadJobs({ bus, jobs, contracts }, registry) },
    );
    const { meetingReported } = conversations.events;
    const providerEvents = await consumeProviderEvents({
      service: 'transcripts',
      bus,
      jobs,
      logger: runtime.logger,
      registry,
      consumer: transcripts.consumers.meetingReported,
      meetingReported,
    });
    runtime.stopBeforeWorkers(providerEvents);
    runtime.stopBeforeWorkers(await consumeDeletions({ bus, db, logger: runtime.logger }));
    runtime.stopBeforeWorkers(await followConversations({ bus, db, logger: runtime.logger }));
    await runtime.prepare(() => indexWhatIsMissing({ db, jobs }));
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

function configureTranscriber(config: TranscriptsConfig): ReturnType<typeof createTranscriber> | undefined {
  if (config.LLM_BASE_URL === '' || config.TRANSCRIPTION_MODEL === '') return undefined;
  return createTranscriber({
    baseUrl: config.LLM_BASE_URL,
    apiKey: config.LLM_API_KEY,
    model: config.TRANSCRIPTION_MODEL,
    timeoutMs: config.TRANSCRIPTION_TIMEOUT_MS,
  });
}
