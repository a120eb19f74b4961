/** Composition root of the events service. */
import { IdempotencyStore, removeOldRecords, cleanupIntervalMs } from '#libs/infrastructure/idempotency';
import type { Service } from '#libs/infrastructure/lifecycle';
import type { Logger } from '#libs/infrastructure/logger';
import { createOutbound } from '#libs/infrastructure/outbound';
import { createServiceRuntime } from '#libs/infrastructure/service';
import { events } from '#services/events';
import type { EventsConfig } from './config.ts';
import { DeliveryScheduler } from './deliveries/scheduler.ts';
import { removeOldDeliveries } from './delivery-log/workers.ts';
import { addDays, measureDays, removeOldEvents } from './feed/days.ts';
import { createEventSerializer, FeedChangeNotifier } from './feed/index.ts';
import { createFeedWriter, fetchAccess, removeSubjects } from './feed/workers.ts';
import { createHandlers } from './handlers.ts';

const fetchAccessIntervalMs = 5_000;
const hourMs = 3_600_000;
const addDaysIntervalMs = 600_000;
const connectTimeoutMs = 5_000;

export async function createService({ config, logger }: { config: EventsConfig; logger?: Logger }): Promise<Service> {
  const runtime = await createServiceRuntime({ contract: events, config, logger });
  const { db, bus, jobs, metrics, eventOutbox } = runtime;
  const feedChanges = new FeedChangeNotifier();
  const shared = {
    bus,
    config,
    db,
    eventOutbox,
    feedChanges,
    findSerializer: createEventSerializer(db),
    idempotency: new IdempotencyStore(jobs),
    jobs,
    logger: runtime.logger,
    metrics,
  };
  const writer = createFeedWriter(shared);
  measureDays(shared);
  const outbound = createOutbound({
    allowedHosts: config.WEBHOOK_ALLOWED_HOSTS,
    requireTls: true,
    connectTimeoutMs,
    metrics,
  });
  const scheduler = new DeliveryScheduler({ ...shared, outbound });
  const deps = { ...shared, scheduler };
  return runtime.service(async () => {
    runtime.onClose(
      bus.subscribeEvent(events.events.advanced, () => {
        feedChanges.notify();
        scheduler.wake();
      }),
    );
    runtime.onStop(() => feedChanges.close());
    await runtime.serve(createHandlers(deps));
    runtime.onClose(() => outbound.close());
    await jobs.work({});
    writer.start();
    runtime.onStop(() => writer.stop());
    scheduler.start();
    runtime.onStop(() => scheduler.stop());
    runtime.runEvery(fetchAccessIntervalMs, 'feed: fetching the access of subjects failed', () => fetchAccess(deps));
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) =>
      removeOldRecords(db, { signal }),
    );
    runtime.runEvery(cleanupIntervalMs, 'webhooks: removing old deliveries failed, retrying', (signal) =>
      removeOldDeliveries({ ...deps, signal }),
    );
    runtime.runEvery(addDaysIntervalMs, 'feed: adding day tables failed, retrying', () => addDays(deps), {
      immediately: true,
    });
    runtime.runEvery(
      hourMs,
      'feed: removing old events failed, retrying',
      (signal) => removeOldEvents(deps, { signal }),
      {
        immediately: true,
      },
    );
    runtime.runEvery(
      hourMs,
      'feed: removing subjects without events failed, retrying',
      (signal) => removeSubjects({ db, signal }),
      {
        immediately: true,
      },
    );
  });
}
