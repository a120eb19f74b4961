/** Composition of the media service: database, bus, jobs, object store and the internal HTTP server for bytes. */
import { createActorVerifier, requestName } from '#libs/actor';
import { createJobs, jobAdminHandlers, type Jobs, type JobTuning } from '#libs/jobs';
import { notFound } from '#libs/errors';
import { countRefusals } from '#libs/http';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { type CallContext, connectBus, createBusMetrics, type Handlers } from '#libs/nats';
import { conversations } from '#services/conversations';
import { createObjectStore, type ObjectStore, storeConfigOf } from '#libs/object-store';
import { createDatabase, measurePool, waitForMigrations, type Database } from '#libs/orm';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { createTelemetry } from '#libs/telemetry';
import type { MediaConfig } from './config.ts';
import { media, mediaPaths, pathOfStored } from './contract.ts';
import { chooseRecording, markerOf, mediaAddress } from './domain/recording.ts';
import { createLogoImages } from './domain/logo-image.ts';
import { serveFile } from './http/download.ts';
import { createLogoHandler } from './http/logo.ts';
import { createInternalListener } from './http/internal.ts';
import { createPublicListener } from './http/public.ts';
import { createMediaServer, type Listener, type Paces, usualPaces } from './http/server.ts';
import { createUploadHandler, toMetadata } from './http/upload.ts';
import { findAudio } from './repositories/blobs.ts';
import { findPublicFile, listFiles, listRecordings, setFinalized } from './repositories/files.ts';
import { countUploads, forgetUploader } from './repositories/uploaders.ts';
import { issueTicket, takeTicket } from './repositories/tickets.ts';
import { consumeDeletions, createDeleteBlob, createFollowConversation } from './workers/clean-up.ts';
import { missingFfmpeg, type Ffmpeg } from '#libs/ffmpeg';
import { contractWith, createRecordingJobs } from './recording-jobs.ts';
import { createFindOrphans } from './workers/orphans.ts';
import { createSweep } from './workers/sweep.ts';
import { migrations } from './migrations/index.ts';

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

  const requireConversation: RequireConversation = (id, context) => bus.call(conversations.rpcs.exists, { id }, context);
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
      downloadAudio: async (exchange, conversationId) => {
        await requireConversation(conversationId, exchange.context);
        const audio = await findAudio(db, conversationId);
        if (audio === undefined) throw notFound();
        const { path: objectKey, name, content_type: contentType, size_bytes: sizeBytes, sha256 } = audio;
        const served = { cacheControl: 'private, no-cache', disposition: 'attachment' } as const;
        await serveFile({ store, logger }, exchange, { objectKey, name, contentType, sizeBytes, sha256, ...served });
      },
    },
    {
      actors,
      takeTicket: (ticket, request) => takeTicket(db, ticket, request),
      logger,
      onRefused: (reason) => busMetrics.refused?.('internal http', reason),
    },
  );
  const open = createPublicListener(async (exchange, key, query) => {
    const found = await findPublicFile(db, key);
    if (found === undefined) throw notFound();
    const { object_key: objectKey, name, content_type: contentType, size_bytes: sizeBytes, sha256 } = found;
    // The marker names these bytes for ever; any other address is asked about each time.
    const isMarked = query.get('v') === markerOf({ objectKey, sha256 });
    const served = {
      cacheControl: isMarked ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      disposition: 'inline',
    } as const;
    await serveFile({ store, logger }, exchange, { objectKey, name, contentType, sizeBytes, sha256, ...served });
  });
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

interface HandlerDependencies {
  db: Database;
  jobs: Jobs;
  store: ObjectStore;
  logger: Logger;
  ffmpeg: Ffmpeg;
  requireConversation: RequireConversation;
}

/** Only what a conversation shows of itself to the caller is shown of its files. @throws AppError 404 */
type RequireConversation = (id: number, context: CallContext) => Promise<unknown>;

function createHandlers({ db, jobs, store, logger, ffmpeg, requireConversation }: HandlerDependencies): Handlers<typeof media> {
  return {
    ...jobAdminHandlers(jobs),
    erasePerson: async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun }) => {
      if (!dryRun) return { counts: { uploads_without_author: (await db.query(forgetUploader, [personId, accountIds])).length } };
      const [row] = await db.query<{ count: number }>(countUploads, [personId, accountIds]);
      return { counts: { uploads_without_author: row?.count ?? 0 } };
    },
    getVideo: async ({ conversation_id: conversationId }, context) => {
      await requireConversation(conversationId, context);
      const recording = chooseRecording(await listRecordings(db, conversationId));
      if (recording === undefined) throw notFound();
      return { url: mediaAddress({ objectKey: recording.object_key, sha256: recording.sha256 }), name: recording.name };
    },
    findOrphans: createFindOrphans({ db, store, logger }),
    describeTools: async () => {
      const version = await ffmpeg.version();
      return { ffmpeg: version ?? null, hint: version === undefined ? missingFfmpeg : null };
    },
    issueDownloadTicket: async ({ conversation_id: id }) => ({
      ticket: await issueTicket(db, requestName('GET', mediaPaths.conversationAudio(id))),
    }),
    issueUploadTicket: async ({ conversation_id: id, kind }) => ({
      ticket: await issueTicket(db, requestName('PUT', pathOfStored(id, kind))),
    }),
    listFiles: async ({ conversation_ids: ids }) => ({ items: await listFiles(db, ids) }),
    setFinalized: async ({ items }) => ({ changed: await setFinalized(db, items) }),
    getAudioMetadata: async ({ conversation_id: conversationId }) => {
      const audio = await findAudio(db, conversationId);
      return audio === undefined ? { audio: null, sha256: null } : { audio: toMetadata(audio), sha256: audio.sha256 };
    },
  };
}
