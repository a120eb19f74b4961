import type { EventOutbox } from '#libs/infrastructure/feed';
import type { IdempotencyStore } from '#libs/infrastructure/idempotency';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';
import type { EventsConfig } from './config.ts';
import type { events } from './contract.ts';
import type { EventSerializer, FeedChangeNotifier } from './feed/index.ts';

export interface Dependencies {
  readonly bus: Bus;
  readonly config: EventsConfig;
  readonly db: Database;
  /** Publishes the events that this service emits itself. */
  readonly eventOutbox: EventOutbox;
  readonly feedChanges: FeedChangeNotifier;
  readonly findSerializer: () => Promise<EventSerializer>;
  readonly idempotency: IdempotencyStore;
  readonly jobs: Jobs<typeof events>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly scheduler: { wake(): void };
}
