/** Composition of the conversations service: database, bus, jobs, directory cache, webhook intake. */
import { createActorVerifier } from '#libs/actor';
import { createJobs } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { connectBus, createBusMetrics, newContext } from '#libs/nats';
import { createDatabase, measurePool, waitForMigrations } from '#libs/orm';
import { createOutbound } from '#libs/outbound';
import { pipelineJobs } from '#libs/pipeline';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { createWebhookKeys } from '#libs/realtimekit';
import { createTelemetry } from '#libs/telemetry';
import { type Clock, systemClock } from '#libs/time';
import { startReceiptRetention } from '#libs/webhooks';
import { conversations } from '#services/conversations';
import { ConversationAccess } from './access.ts';
import { createAttachAudioWorker } from './audio/workers.ts';
import { createBookingEventWorker } from './booking/workers/booking-event.ts';
import { startWebhookIntake } from './booking/workers/intake.ts';
import type { ConversationsConfig } from './config.ts';
import { ConversationView } from './conversation-view.ts';
import { createRemoval } from './deletion/workers.ts';
import type { Dependencies } from './dependencies.ts';
import { DirectoryCache } from './directory-cache/index.ts';
import { createHandlers } from './handlers.ts';
import { createMeetingReportWorker, startMeetingIntake } from './meeting/workers.ts';
import { migrations } from './migrations/index.ts';
import { createAdvanceStepWorker } from './pipeline/workers/advance-step.ts';
import { createPipelineFinishedWorker } from './pipeline/workers/pipeline-finished.ts';
import { measureReceipts } from './receipts/metrics.ts';
import { sweepKeys } from './recorded/workers.ts';
import { createRefusals } from './refusals.ts';

export interface ConversationsOptions {
  config: ConversationsConfig;
  logger?: Logger;
  clock?: Clock;
  pipeline?: PipelineExtension;
}

const serviceName = 'conversations';

export async function createService({ config, logger: given, clock = systemClock, pipeline }: ConversationsOptions): Promise<Service> {
  const logger = given ?? createLogger({ service: serviceName, level: config.LOG_LEVEL });
  const db = await createDatabase({
    url: config.DATABASE_URL,
    schema: serviceName,
    poolSize: config.DATABASE_POOL_SIZE,
    logger,
    applicationName: serviceName,
  });
  const telemetry = createTelemetry({
    service: serviceName,
    logger,
    settings: config,
    checks: { postgresql: () => db.ping(), nats: () => bus.ping() },
  });
  measurePool(telemetry.metrics, db);
  const { metrics } = telemetry;
  const bus = await connectBus({
    url: config.NATS_URL,
    name: serviceName,
    caller: serviceName,
    actors: createActorVerifier(config.ACTOR_PUBLIC_KEY),
    prefix: config.NATS_SUBJECT_PREFIX,
    checkReplies: config.CHECK_REPLIES,
    logger,
    metrics: createBusMetrics(metrics),
  });
  const jobs = createJobs({ contract: conversations, db, bus, logger, metrics });
  const directory = new DirectoryCache(bus, () => newContext());
  const view = new ConversationView(directory);
  const refusals = createRefusals(metrics);
  const dependencies: Dependencies = {
    config,
    db,
    bus,
    jobs,
    clock,
    logger,
    directory,
    view,
    refusals,
    access: new ConversationAccess({ config, db, directory, refusals }),
    pipeline: pipeline?.registry ?? pipelineJobs,
  };
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.REALTIMEKIT_WEBHOOK_KEY_URL],
    metrics,
  });
  const { REALTIMEKIT_WEBHOOK_PUBLIC_KEY: publicKey, REALTIMEKIT_WEBHOOK_KEY_URL: keyUrl } = config;
  const keys = createWebhookKeys({ outbound, publicKey, keyUrl });
  measureReceipts(metrics, db);
  const removal = createRemoval(dependencies, metrics);
  const stopping: (() => Promise<void>)[] = [];

  return {
    start: async () => {
      await telemetry.start();
      await waitForMigrations({ db, schema: 'conversations', migrations, logger });
      await bus.waitForStreams();
      directory.start();
      const responder = await bus.serve(conversations, createHandlers(dependencies));
      stopping.push(() => responder.drain());
      await jobs.work({
        bookingEvent: createBookingEventWorker(dependencies),
        meetingReport: createMeetingReportWorker(dependencies, keys),
        advanceStep: createAdvanceStepWorker(dependencies),
        attachAudio: refusals.worker(createAttachAudioWorker()),
        pipelineFinished: refusals.worker(createPipelineFinishedWorker(dependencies)),
      });
      const intakes = [await startWebhookIntake(dependencies), await startMeetingIntake(dependencies, keys)];
      stopping.push(async () => {
        await Promise.all(intakes.map((intake) => intake.stop()));
        await jobs.stop();
      });
      const stopSweep = sweepKeys(dependencies);
      stopping.push(async () => stopSweep());
      const stopRetention = startReceiptRetention({
        db,
        logger,
        schema: serviceName,
        contents: ['body'],
        days: config.RECEIPT_RETENTION_DAYS,
      });
      stopping.push(async () => stopRetention());
      removal.start();
      stopping.push(() => removal.stop());
      telemetry.started();
      logger.info({ metricsPort: telemetry.port }, 'conversations is ready');
    },
    stop: async () => {
      telemetry.draining();
      await Promise.all(stopping.map((stop) => stop()));
      directory.stop();
      await bus.close();
      await db.close();
      await outbound.close();
      await telemetry.stop();
    },
  };
}
