/** Composition root of the conversations service: database, bus, jobs, directory cache, webhook intake. */
import { conversationAccess } from '#libs/infrastructure/contract';
import {
  cleanupIntervalMs,
  IdempotencyStore,
  removeExpiredKeys,
  removeOldRecords,
} from '#libs/infrastructure/idempotency';
import { createServiceRuntime } from '#libs/infrastructure/service';
import type { Service } from '#libs/infrastructure/lifecycle';
import type { Logger } from '#libs/infrastructure/logger';
import { newContext } from '#libs/infrastructure/nats';
import { createOutbound } from '#libs/infrastructure/outbound';
import { pipelineJobs } from '#libs/product/pipeline';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import { createWebhookKeys } from '#libs/product/realtimekit';
import { type Clock, systemClock } from '#libs/infrastructure/time';
import { measureReceipts, sweepReceipts, receiptSweepIntervalMs } from '#libs/product/webhooks';
import { conversations } from '#services/conversations';
import { ConversationAccess } from './access.ts';
import { createAttachAudioWorker } from './conversation/workers.ts';
import { createBookingEventWorker } from './booking/workers/booking-event.ts';
import { startBookingIntake } from './booking/workers/intake.ts';
import { cancelUnanswered, cancelUnansweredEveryMs } from './booking/workers/cancel.ts';
import type { ConversationsConfig } from './config.ts';
import { ConversationView } from './representation.ts';
import { createRemoval } from './deletion/workers.ts';
import type { Dependencies } from './dependencies.ts';
import { DirectoryCache } from './directory-cache/index.ts';
import { createHandlers } from './handlers.ts';
import { createMeetingReportWorker, startMeetingIntake } from './meeting/workers.ts';
import { createAdvanceStepWorker, createPipelineFinishedWorker, workWordsErased } from './pipeline/workers.ts';
import { countWebhooks } from './receipts/index.ts';
import { countReceipts, dropOldBodies } from './receipts/statements.ts';
import { createCalCom } from './cal-com.ts';
import { createSeriesWorker } from './reconcile/series.ts';
import { createReconcileWorker, enqueueDaily } from './reconcile/workers.ts';
import { recordedKeys } from './conversation/statements.ts';
import { createRefusals } from './refusals.ts';

/** Interval between checks whether the daily reconciliation is due. */
const reconcileCheckMs = 300_000;

export interface ConversationsOptions {
  config: ConversationsConfig;
  logger?: Logger;
  clock?: Clock;
  pipeline?: PipelineExtension;
  /** Interval in milliseconds between checks for due work; tests shorten it. */
  dueIntervalMs?: number | undefined;
}

export async function createService({
  config,
  logger,
  clock = systemClock,
  pipeline,
  dueIntervalMs,
}: ConversationsOptions): Promise<Service> {
  const runtime = await createServiceRuntime({ contract: conversations, config, logger });
  const { db, bus, jobs, metrics } = runtime;
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.REALTIMEKIT_WEBHOOK_KEY_URL, ...(config.CALCOM_API_KEY === '' ? [] : [config.CALCOM_API_URL])],
    metrics,
  });
  runtime.onClose(() => outbound.close());
  const { REALTIMEKIT_WEBHOOK_PUBLIC_KEY: publicKey, REALTIMEKIT_WEBHOOK_KEY_URL: keyUrl } = config;
  const { CALCOM_API_KEY: apiKey, CALCOM_API_URL: baseUrl } = config;
  const directory = new DirectoryCache(bus, () => newContext());
  const refusals = createRefusals(metrics);
  const dependencies: Dependencies = {
    config,
    db,
    bus,
    jobs,
    idempotency: new IdempotencyStore(jobs),
    eventOutbox: runtime.eventOutbox,
    clock,
    logger: runtime.logger,
    metrics,
    directory,
    view: new ConversationView(directory),
    refusals,
    access: new ConversationAccess({ config, db, directory, refusals }),
    pipeline: pipeline?.registry ?? pipelineJobs,
    calCom: apiKey === '' ? undefined : createCalCom({ outbound, baseUrl, apiKey }),
    webhookKeys: createWebhookKeys({ outbound, publicKey, keyUrl }),
  };
  measureReceipts(metrics, () => countReceipts(db));
  const removal = createRemoval(dependencies, dueIntervalMs);

  return runtime.service(async () => {
    runtime.logger.info(
      { access: config.CONVERSATION_ACCESS },
      `conversation access: ${conversationAccess[config.CONVERSATION_ACCESS]}`,
    );
    directory.start();
    runtime.onClose(() => directory.stop());
    runtime.setStatusProvider(async () => ({ webhooks: await countWebhooks(db) }));
    // Both values are valid (D69, D92).
    const access = `${conversationAccess[config.CONVERSATION_ACCESS]} (CONVERSATION_ACCESS)`;
    runtime.setChecks([{ name: 'conversation access', needed: true, examine: async () => access }]);
    await runtime.serve(createHandlers(dependencies));
    await jobs.work({
      bookingEvent: createBookingEventWorker(dependencies),
      bookingReconcile: createReconcileWorker(dependencies),
      bookingSeries: createSeriesWorker(dependencies),
      meetingReport: createMeetingReportWorker(dependencies),
      advanceStep: createAdvanceStepWorker(dependencies),
      attachAudio: refusals.worker(createAttachAudioWorker(dependencies)),
      pipelineFinished: refusals.worker(createPipelineFinishedWorker(dependencies)),
      wordsErased: workWordsErased,
    });
    runtime.stopBeforeWorkers(await startBookingIntake(dependencies));
    runtime.stopBeforeWorkers(await startMeetingIntake(dependencies));
    runtime.runEvery(dueIntervalMs ?? cancelUnansweredEveryMs, 'failed to cancel bookings without a new time', () =>
      cancelUnanswered(dependencies),
    );
    runtime.runEvery(cleanupIntervalMs, 'failed to remove expired idempotency keys', (signal) =>
      removeExpiredKeys(db, recordedKeys, signal),
    );
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) =>
      removeOldRecords(db, { signal }),
    );
    if (dependencies.calCom !== undefined) {
      const reconcile = (): Promise<void> => enqueueDaily(dependencies);
      runtime.runEvery(reconcileCheckMs, 'failed to start reconciling bookings', reconcile);
      await reconcile();
    }
    const retention = { db, dropContents: dropOldBodies, days: config.RECEIPT_RETENTION_DAYS };
    runtime.runEvery(
      receiptSweepIntervalMs,
      'failed to remove old webhook receipts',
      (signal) => sweepReceipts({ ...retention, signal }),
      {
        immediately: true,
      },
    );
    removal.start();
    runtime.onStop(() => removal.stop());
  });
}
