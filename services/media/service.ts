/** Composition of the media service: database, bus, jobs, object store and the internal HTTP server for bytes. */
import { countRefusals } from '#libs/http';
import { IdempotencyStore, removeOldRecords, cleanupIntervalMs } from '#libs/idempotency';
import type { JobTuning } from '#libs/jobs';
import { createFrame } from '#libs/service';
import type { Service } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import type { CallContext } from '#libs/nats';
import { conversations } from '#services/conversations';
import { createObjectStore, storeConfigOf } from '#libs/object-store';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { measureBackups } from './backup-age.ts';
import { consumeDeletions, enqueueCatchUp } from './clean-up/workers.ts';
import type { MediaConfig } from './config.ts';
import { media } from './contract.ts';
import { createDownloadAudio, createServePublicFile } from './downloads/handlers.ts';
import { createHandlers } from './handlers.ts';
import { createInternalListener } from './http/internal.ts';
import { createPublicListener } from './http/public.ts';
import { createMediaServer, type Listener, type Paces, usualPaces } from './http/server.ts';
import { createLogoImages } from './logos/logo-image.ts';
import { createLogoHandler } from './logos/logo-upload.ts';
import { takeTicket } from './tickets/tickets.ts';
import { createSweep } from './upload-leases/sweep.ts';
import { createUploadHandler } from './uploads/audio-upload.ts';
import { contractWith, createWorkers } from './workers.ts';

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
  const frame = await createFrame({
    contract: media,
    worked: contractWith(pipeline),
    config,
    logger: given,
    checks: { 'object store': () => store.ping() },
    tuning,
  });
  const { db, bus, jobs, metrics, logger, actors, busMetrics } = frame;
  const store = createObjectStore(storeConfigOf(config), {
    maxBuffers: (config.MEDIA_MAX_UPLOADS + importsAtATime) * buffersPerUpload,
    metrics,
  });
  frame.onClose(() => store.close());

  const requireConversation = (id: number, context: CallContext): Promise<unknown> => bus.call(conversations.rpcs.exists, { id }, context);
  const graceSeconds = config.MEDIA_REPLACED_GRACE_SECONDS;
  const leaseSeconds = config.MEDIA_UPLOAD_LEASE_SECONDS;
  const sweep = createSweep({ db, store, logger, leaseSeconds });
  const sweepSoon = (): void => sweep.soon();
  const workers = createWorkers({ config, db, store, logger, metrics, pipeline, sweepSoon });
  frame.onClose(() => workers.close());
  const maxUploads = config.MEDIA_MAX_UPLOADS;
  const storing = { db, bus, jobs, eventOutbox: frame.eventOutbox, store, logger, maxUploads, leaseSeconds, graceSeconds, sweepSoon };
  const uploads = createUploadHandler(storing);
  const uploadLogo = createLogoHandler({ ...storing, idempotency: new IdempotencyStore(jobs), images: createLogoImages() });
  const internal = createInternalListener(
    {
      uploadLogo: ({ request, response, context, idempotencyKey }, holonId) =>
        uploadLogo({ request, response, context, idempotencyKey, holonId }),
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
  const requests = metrics.red('http_requests', 'HTTP requests', ['method', 'route']);
  const refused = countRefusals(metrics);
  const serve = (listener: Listener) => createMediaServer(listener, { logger, requests, refused, paces });
  const servers = { open: serve(open), internal: serve(internal) };
  metrics.gauge('media_uploads_running', 'Uploads under way', [], (gauge) => gauge.set(uploads.running));
  measureBackups(metrics, store, config.BACKUP_EXPECTED);
  const ports = { open: 0, internal: 0 };
  const windowMs = config.DRAIN_WINDOW_SECONDS * 1000;
  const listen = async (name: keyof typeof ports, port: number): Promise<void> => {
    ports[name] = await servers[name].listen({ host: config.HOST, port });
    frame.onStop(() => servers[name].drain({ windowMs, deadlineMs: drainMs - windowMs }));
  };

  const service = frame.service(async () => {
    const { lifecycle } = await store.ensureBucket();
    if (!lifecycle) logger.info('the object store has no rule for unfinished uploads; the sweep alone removes them');
    await frame.serve(createHandlers({ db, bus, jobs, store, logger, ffmpeg: workers.ffmpeg, requireConversation }));
    frame.feed(await workers.start(jobs, bus));
    await jobs.work(workers.handlers(jobs, bus, frame.eventOutbox), { onDead: workers.onDead(jobs, bus) });
    frame.feed(await consumeDeletions({ bus, jobs, logger, graceSeconds }));
    await frame.catchUp(() => enqueueCatchUp(jobs));
    sweep.start();
    frame.every(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) => removeOldRecords(db, { signal }));
    frame.onStop(() => sweep.stop());
    frame.breakOffAfter(drainMs - 5_000, () => uploads.stop());
    await listen('open', config.PORT);
    await listen('internal', config.INTERNAL_PORT);
    return { port: ports.open, internalPort: ports.internal };
  });
  return {
    ...service,
    get port() {
      return ports.open;
    },
    get internalPort() {
      return ports.internal;
    },
  };
}
