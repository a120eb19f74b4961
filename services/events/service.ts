/** Composition of the events service: the feed, its writer and its readers, and the endpoints to which it is sent. */
import { IdempotencyStore, removeOldRecords, cleanupIntervalMs } from '#libs/idempotency';
import type { Service } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import { createOutbound } from '#libs/outbound';
import { createServiceRuntime } from '#libs/service';
import { events } from '#services/events';
import type { EventsConfig } from './config.ts';
import { measureDeliveries, measureDispatchers } from './deliveries/metrics.ts';
import { RecipientAccessCache } from './deliveries/recipient-access.ts';
import { DeliveryScheduler } from './deliveries/scheduler.ts';
import { dropOldDeliveries } from './delivery-log/upkeep.ts';
import { addDays, endDays, measureDays } from './feed/days.ts';
import { createEventWriter, FeedChangeNotifier } from './feed/index.ts';
import { createFeedWriter, forgetSubjects, learnAccess } from './feed/workers.ts';
import { createHandlers } from './handlers.ts';

const learnEveryMs = 5_000;
const hourMs = 3_600_000;
const addDaysEveryMs = 600_000;
const connectTimeoutMs = 5_000;

export async function createService({ config, logger }: { config: EventsConfig; logger?: Logger }): Promise<Service> {
  const runtime = await createServiceRuntime({ contract: events, config, logger });
  const { db, bus, jobs, metrics, eventOutbox } = runtime;
  const feedChanges = new FeedChangeNotifier();
  const retentionDays = config.EVENTS_RETENTION_DAYS;
  const deps = {
    db,
    bus,
    jobs,
    logger: runtime.logger,
    metrics,
    config,
    retentionDays,
    feedChanges,
    eventOutbox,
    findWriter: createEventWriter(db),
  };
  const writer = createFeedWriter(deps);
  measureDays(deps);
  const outbound = createOutbound({ allowedHosts: config.WEBHOOK_ALLOWED_HOSTS, requireTls: true, connectTimeoutMs, metrics });
  const scheduler = new DeliveryScheduler({
    ...deps,
    outbound,
    metrics: measureDeliveries(metrics, db),
    access: new RecipientAccessCache(deps),
  });
  measureDispatchers(metrics, () => scheduler.counts);
  return runtime.service(async () => {
    runtime.onClose(
      bus.subscribeEvent(events.events.advanced, () => {
        feedChanges.notify();
        scheduler.wake();
      }),
    );
    runtime.onStop(() => feedChanges.close());
    await runtime.serve(createHandlers({ ...deps, scheduler, idempotency: new IdempotencyStore(jobs) }));
    runtime.onClose(() => outbound.close());
    await jobs.work({});
    writer.start();
    runtime.onStop(() => writer.stop());
    scheduler.start();
    runtime.onStop(() => scheduler.stop());
    runtime.runEvery(learnEveryMs, 'what decides who may read a subject cannot be asked', () => learnAccess(deps));
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) => removeOldRecords(db, { signal }));
    runtime.runEvery(cleanupIntervalMs, 'old deliveries were not removed', (signal) => dropOldDeliveries({ ...deps, signal }));
    runtime.runEvery(addDaysEveryMs, 'feed: adding the tables of the coming days failed, retrying', () => addDays(deps), {
      immediately: true,
    });
    runtime.runEvery(hourMs, 'feed: removing ended events failed, retrying', (signal) => endDays(deps, { signal }), { immediately: true });
    runtime.runEvery(hourMs, 'feed: removing subjects without events failed, retrying', (signal) => forgetSubjects({ db, signal }), {
      immediately: true,
    });
  });
}
