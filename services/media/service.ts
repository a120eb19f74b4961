/** Composition root of the media service: database, bus, jobs, object store, and the HTTP servers for file content. */
import { ffmpegMissingMessage } from '#libs/infrastructure/ffmpeg';
import { countRefusals } from '#libs/infrastructure/http';
import { cleanupIntervalMs, removeOldRecords } from '#libs/infrastructure/idempotency';
import type { JobTuning } from '#libs/infrastructure/jobs';
import type { Service } from '#libs/infrastructure/lifecycle';
import type { Logger } from '#libs/infrastructure/logger';
import { createObjectStore, lastBackupKey, type ObjectStore, storeConfigOf } from '#libs/infrastructure/object-store';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import { createServiceRuntime } from '#libs/infrastructure/service';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { systemClock } from '#libs/infrastructure/time';
import { consumeDeletions, enqueueCatchUp } from './clean-up/workers.ts';
import type { MediaConfig } from './config.ts';
import { media } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { createDownloadAudio, createServePublicFile } from './downloads/handlers.ts';
import { createHandlers } from './handlers.ts';
import { redeemTicket } from './http/handlers.ts';
import { createInternalListener, createPublicListener } from './http/listeners.ts';
import { createMediaServer, defaultPaceRules, type Listener, type PaceRules } from './http/server.ts';
import { createUploadLogo } from './logos/logo-upload.ts';
import { createUploadSweeper } from './upload-leases/sweep.ts';
import { createUploads } from './uploads/audio-upload.ts';
import { consumeMeetingEvents, createExternalTools, createOnDead, createWorkers, jobContract } from './workers.ts';

export interface MediaOptions {
  readonly config: MediaConfig;
  readonly logger?: Logger;
  readonly pipeline?: PipelineExtension;
  /** Intervals and timeouts of jobs; tests that kill processes shorten them. */
  readonly tuning?: Partial<JobTuning>;
  /** Minimum transfer rates; tests shorten the time windows. */
  readonly paceRules?: PaceRules;
}

export interface MediaService extends Service {
  /** Ports of the public and the internal HTTP server; set when the service has started. */
  readonly port: number;
  readonly internalPort: number;
}

/** Time in which running transfers must finish when the service stops, including the drain window. */
const drainMs = 20_000;
/** Number of buffers per upload: one is filled while another is sent. */
const buffersPerUpload = 2;
/** Number of jobs that store objects at the same time, such as recording imports. */
const parallelImports = 2;

export async function createService(options: MediaOptions): Promise<MediaService> {
  const { config, logger: customLogger, pipeline, tuning, paceRules = defaultPaceRules } = options;
  const runtime = await createServiceRuntime({
    contract: media,
    jobContract: jobContract(pipeline),
    config,
    logger: customLogger,
    checks: { 'object store': () => store.ping() },
    tuning,
  });
  const { db, bus, jobs, metrics, logger, eventOutbox } = runtime;
  const store = createObjectStore(storeConfigOf(config), {
    maxBuffers: (config.MEDIA_MAX_UPLOADS + parallelImports) * buffersPerUpload,
    metrics,
  });
  runtime.onClose(() => store.close());
  const tools = createExternalTools(config, { logger, metrics });
  runtime.onClose(() => tools.close());
  const sweeper = createUploadSweeper({ config, db, store, logger });
  const requestSweep = (): void => sweeper.request();
  const deps: Dependencies = {
    config,
    db,
    bus,
    jobs,
    eventOutbox,
    store,
    logger,
    clock: systemClock,
    ...tools,
    requestSweep,
  };

  const uploads = createUploads(deps);
  const internalListener = createInternalListener(
    { ...uploads, uploadLogo: createUploadLogo(deps), downloadAudio: createDownloadAudio(deps) },
    {
      actors: runtime.actors,
      redeemTicket: (ticket, request) => redeemTicket(db, ticket, request),
      logger,
      onRefused: (reason) => runtime.busMetrics.refused?.('internal http', reason),
    },
  );
  const publicListener = createPublicListener(createServePublicFile(deps));
  const requests = metrics.red('http_requests', 'HTTP requests', ['method', 'route']);
  const refused = countRefusals(metrics);
  const createServer = (listener: Listener) => createMediaServer(listener, { logger, requests, refused, paceRules });
  const servers = { public: createServer(publicListener), internal: createServer(internalListener) };
  metrics.gauge('media_uploads_running', 'Uploads in progress', [], (gauge) => gauge.set(uploads.countRunning()));
  registerBackupMetrics(metrics, store, config.BACKUP_EXPECTED);
  const ports = { public: 0, internal: 0 };
  const windowMs = config.DRAIN_WINDOW_SECONDS * 1000;
  const listen = async (name: keyof typeof ports, port: number): Promise<void> => {
    ports[name] = await servers[name].listen({ host: config.HOST, port });
    runtime.onStop(() => servers[name].drain({ windowMs, deadlineMs: drainMs - windowMs }));
  };

  const service = runtime.service(async () => {
    const { lifecycle } = await store.ensureBucket();
    if (!lifecycle)
      logger.info('the object store does not support lifecycle rules; only the sweep removes unfinished uploads');
    runtime.setChecks([{ name: 'ffmpeg', needed: false, examine: () => describeFfmpeg(deps) }]);
    await runtime.serve(createHandlers(deps));
    await tools.prepare();
    runtime.stopBeforeWorkers(await consumeMeetingEvents(deps, pipeline));
    await jobs.work(createWorkers(deps, pipeline), { onDead: createOnDead(deps, pipeline) });
    runtime.stopBeforeWorkers(await consumeDeletions(deps));
    await runtime.catchUp(() => enqueueCatchUp(jobs));
    sweeper.start();
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) =>
      removeOldRecords(db, { signal }),
    );
    runtime.onStop(() => sweeper.stop());
    runtime.abortAfter(drainMs - 5_000, () => uploads.abort());
    await listen('public', config.PORT);
    await listen('internal', config.INTERNAL_PORT);
    return { port: ports.public, internalPort: ports.internal };
  });
  return {
    ...service,
    get port() {
      return ports.public;
    },
    get internalPort() {
      return ports.internal;
    },
  };
}

/** Returns the version of ffmpeg, which trims recordings. @throws Error when it cannot be run */
async function describeFfmpeg({ ffmpeg }: Pick<Dependencies, 'ffmpeg'>): Promise<string> {
  const version = await ffmpeg.version();
  if (version === undefined) throw new Error(ffmpegMissingMessage);
  return version;
}

/**
 * Reports whether backups are expected, and the age of the newest backup, read from the object that each backup writes.
 */
function registerBackupMetrics(metrics: Metrics, store: ObjectStore, isExpected: boolean): void {
  metrics.gauge('backup_expected', '1 when backups are expected (BACKUP_EXPECTED)', [], (gauge) =>
    gauge.set(isExpected ? 1 : 0),
  );
  metrics.gauge(
    'backup_age_seconds',
    'Seconds since the last successful `backup create`; absent without one',
    [],
    async (gauge) => {
      const last = await store.head(lastBackupKey);
      if (last !== undefined) gauge.set((Date.now() - last.modifiedAt.getTime()) / 1000);
    },
  );
}
