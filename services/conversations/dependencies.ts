/** Dependencies that service.ts creates once and passes to all handlers, workers and intakes. */
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { IdempotencyStore } from '#libs/infrastructure/idempotency';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import type { PipelineRegistry } from '#libs/product/pipeline';
import type { WebhookKeys } from '#libs/product/realtimekit';
import type { FeatureHandlers } from '#libs/infrastructure/service';
import type { Metrics } from '#libs/infrastructure/telemetry';
import type { Clock } from '#libs/infrastructure/time';
import type { ConversationAccess } from './access.ts';
import type { ConversationsConfig } from './config.ts';
import type { conversations } from './contract.ts';
import type { ConversationView } from './representation.ts';
import type { DirectoryCache } from './directory-cache/index.ts';
import type { CalCom } from './cal-com.ts';
import type { Refusals } from './refusals.ts';

export interface Dependencies {
  readonly config: ConversationsConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs;
  readonly idempotency: IdempotencyStore;
  readonly eventOutbox: EventOutbox;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly directory: DirectoryCache;
  readonly view: ConversationView;
  readonly refusals: Refusals;
  readonly access: ConversationAccess;
  /** The pipeline jobs that a step can name. */
  readonly pipeline: PipelineRegistry;
  /** Undefined without CALCOM_API_KEY. */
  readonly calCom: CalCom | undefined;
  readonly webhookKeys: WebhookKeys;
}

/** The operations of the contract that this service implements itself. */
export type Operations = FeatureHandlers<typeof conversations>;
