/** Composition of the media service: database, bus, jobs, object store and the internal HTTP server for bytes. */
import { createActorVerifier } from '#libs/actor';
import { createJobs, type Jobs, type JobTuning } from '#libs/jobs';
import { countRefusals } from '#libs/http';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { type CallContext, connectBus, createBusMetrics } from '#libs/nats';
import { conversations } from '#services/conversations';
import { createObjectStore, storeConfigOf } from '#libs/object-store';
import { createDatabase, measurePool, waitForMigrations } from '#libs/orm';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { createTelemetry } from '#libs/telemetry';
import { consumeDeletions, createDeleteBlob, createFollowConversation } from './clean-up/workers.ts';
import type { MediaConfig } from './config.ts';
import { media } from './contract.ts';
import { createDownloadAudio, createServePublicFile } from './downloads/handlers.ts';
import { createHandlers } from './handlers.ts';
import { createInternalListener } from './http/internal.ts';
import { createPublicListener } from './http/public.ts';
import { createMediaServer, type Listener, type Paces, usualPaces } from './http/server.ts';
import { createLogoImages } from './logos/logo-image.ts';
import { createLogoHandler } from './logos/logo-upload.ts';
import { migrations } from './migrations/index.ts';
import { takeTicket } from './tickets/statements.ts';
import { createSweep } from './upload-leases/sweep.ts';
import { createUploadHandler } from './uploads/audio-upload.ts';
import { contractWith, createRecordingJobs } from './workers.ts';

export interface MediaOptions {
  config: MediaConfig;
  logger?: Logger;
  pipeline?: PipelineExtension;
  /** Times of the job machinery; tests that kill processes shorten them. */
  tuning?: Partial<JobTuning>;
  /** How fast clients must send and take; tests are in a hurry. */
  paces?: Paces;
}

export interface MediaService extends Service {
  /** Ports of the public and of the internal HTTP server, once started. */
  readonly port: number;
  readonly internalPort: number;
}

/** Time that running transfers have to finish when the service stops, the window included. */
const drainMs = 20_000;
/** An upload fills one buffer while another is sent. */
const buffersPerUpload = 2;
/** Imports of recordings and other jobs that store something. */
const importsAtATime = 2;

export async function createService({ config, logger: given, pipeline, tuning, paces = usualPaces }: MediaOptions): Promise<MediaService> {
  const logger = given ?? createLogger({ service: 'media', level: config.LOG_LEVEL });
  const db = await createDatabase({
    url: config.DATABASE_URL,
    schema: 'media',
    poolSize: config.DATABASE_POOL_SIZE,
    logger,
    applicationName: 'media',
  });
  const telemetry = createTelemetry({
    service: 'media',
    logger,
    settings: config,
    checks: { postgresql: () => db.ping(), nats: () => bus.ping(), 'object store': () => store.ping() },
  });
  measurePool(telemetry.metrics, db);
  const store = createObjectStore(storeConfigOf(config), {
    maxBuffers: (config.MEDIA_MAX_UPLOADS + importsAtATime) * buffersPerUpload,
    metrics: telemetry.metrics,
  });
  const actors = createActorVerifier(config.ACTOR_PUBLIC_KEY);
  const busMetrics = createBusMetrics(telemetry.metrics);
  const bus = await connectBus({
    url: config.NATS_URL,
    name: 'media',
    caller: 'media',
    actors,
    prefix: config.NATS_SUBJECT_PREFIX,
    checkReplies: config.CHECK_REPLIES,
    logger,
    metrics: busMetrics,
  });
  const jobs: Jobs = createJobs({ contract: contractWith(pipeline), db, bus, logger, metrics: telemetry.metrics, tuning });

  const requireConversation = (id: number, context: CallContext): Promise<unknown> => bus.call(conversations.rpcs.exists, { id }, context);
  const graceSeconds = config.MEDIA_REPLACED_GRACE_SECONDS;
  const leaseSeconds = config.MEDIA_UPLOAD_LEASE_SECONDS;
  const sweep = createSweep({ db, store, logger, leaseSeconds });
  const recordings = createRecordingJobs({
    config,
    db,
    store,
    logger,
    metrics: telemetry.metrics,
    pipeline,
    sweepSoon: () => sweep.soon(),
  });
  const uploads = createUploadHandler({
    db,
    bus,
    jobs,
    store,
    logger,
    maxUploads: config.MEDIA_MAX_UPLOADS,
    leaseSeconds,
    graceSeconds,
    sweepSoon: () => sweep.soon(),
  });
  const uploadLogo = createLogoHandler({
    db,
    bus,
    jobs,
    store,
    logger,
    images: createLogoImages(),
    maxUploads: config.MEDIA_MAX_UPLOADS,
    leaseSeconds,
    graceSeconds,
    sweepSoon: () => sweep.soon(),
  });
  const internal = createInternalListener(
    {
      uploadLogo: ({ request, response, context }, holonId) => uploadLogo({ request, response, context, holonId }),
      uploadAudio: ({ request, response, context }, conversationId) => uploads.handle({ request, response, context, conversationId }),
      importFile: ({ request, response, context }, conversationId, kind, query) =>
        uploads.handleImport({ request, response, context, conversationId }, kind, query),
      downloadAudio: createDownloadAudio({ db, store, logger, requireConversation }),
    },
    {
      actors,
      takeTicket: (ticket, request) => takeTicket(db, ticket, request),
      logger,
      onRefused: (reason) => busMetrics.refused?.('internal http', reason),
    },
  );
  const open = createPublicListener(createServePublicFile({ db, store, logger }));
  const requests = telemetry.metrics.red('http_requests', 'HTTP requests', ['method', 'route']);
  const refused = countRefusals(telemetry.metrics);
  const serve = (listener: Listener) => createMediaServer(listener, { logger, requests, refused, paces });
  const servers = { open: serve(open), internal: serve(internal) };
  telemetry.metrics.gauge('media_uploads_running', 'Uploads under way', [], (gauge) => gauge.set(uploads.running));
  const stopping: (() => Promise<void>)[] = [];
  const ports = { open: 0, internal: 0 };

  return {
    get port() {
      return ports.open;
    },
    get internalPort() {
      return ports.internal;
    },
    start: async () => {
      await telemetry.start();
      await waitForMigrations({ db, schema: 'media', migrations, logger });
      await bus.waitForStreams();
      const { lifecycle } = await store.ensureBucket();
      if (!lifecycle) logger.info('the object store has no rule for unfinished uploads; the sweep alone removes them');
      const responder = await bus.serve(media, createHandlers({ db, jobs, store, logger, ffmpeg: recordings.ffmpeg, requireConversation }));
      stopping.push(() => responder.drain());
      const news = await recordings.start(jobs, bus);
      stopping.push(() => news.stop());
      await jobs.work({
        deleteBlob: createDeleteBlob({ db, store }),
        followConversation: createFollowConversation({ bus, jobs, graceSeconds }),
        ...recordings.handlers(jobs, bus),
      });
      stopping.push(() => jobs.stop());
      const deletions = await consumeDeletions({ bus, jobs, logger, graceSeconds });
      stopping.push(() => deletions.stop());
      sweep.start();
      stopping.push(() => sweep.stop());
      ports.open = await servers.open.listen({ host: config.HOST, port: config.PORT });
      ports.internal = await servers.internal.listen({ host: config.HOST, port: config.INTERNAL_PORT });
      telemetry.started();
      logger.info({ port: ports.open, internalPort: ports.internal, metricsPort: telemetry.port }, 'media is ready');
    },
    stop: async () => {
      telemetry.draining();
      const breakOff = setTimeout(() => uploads.stop(), drainMs - 5_000);
      const windowMs = config.DRAIN_WINDOW_SECONDS * 1000;
      // Side by side: one after the other they could take longer than the process may. What an upload enqueues later is a row by then.
      await Promise.all([
        ...(['open', 'internal'] as const).map((name) =>
          ports[name] === 0 ? undefined : servers[name].drain({ windowMs, deadlineMs: drainMs - windowMs }),
        ),
        ...stopping.map((stop) => stop()),
      ]);
      clearTimeout(breakOff);
      await bus.close();
      await db.close();
      await recordings.close();
      store.close();
      await telemetry.stop();
    },
  };
}
