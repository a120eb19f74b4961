import { auditHandlers } from '#libs/audit';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { FeatureHandlers } from '#libs/service';
import type { EventsConfig } from './config.ts';
import type { events } from './contract.ts';
import type { DeliveryScheduler } from './deliveries/index.ts';
import { createDeliveryHandlers } from './delivery-log/handlers.ts';
import { createEndpointHandlers } from './endpoints/handlers.ts';
import { createFeedHandlers } from './feed/handlers.ts';
import type { EventWriter, FeedChangeNotifier } from './feed/index.ts';
import { createErasePerson, createMergePerson } from './person-data/handlers.ts';

interface Dependencies {
  readonly bus: Bus;
  readonly config: EventsConfig;
  readonly db: Database;
  readonly findWriter: () => Promise<EventWriter>;
  readonly jobs: Jobs<typeof events>;
  readonly logger: Logger;
  /** Tells when the feed grows. */
  readonly feedChanges: FeedChangeNotifier;
  /** Where the service itself tells the feed. */
  readonly eventOutbox: EventOutbox;
  readonly idempotency: IdempotencyStore;
  readonly scheduler: DeliveryScheduler;
}

/** One handler for each declared operation. */
export function createHandlers(deps: Dependencies): FeatureHandlers<typeof events> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    ...createFeedHandlers(deps),
    ...createEndpointHandlers(deps),
    ...createDeliveryHandlers(deps),
    erasePerson: createErasePerson(deps.db),
    mergePerson: createMergePerson(deps.db),
  };
}
