/** Dependencies that service.ts creates once and passes to all handlers, workers and intakes. */
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { PipelineRegistry } from '#libs/pipeline';
import type { WebhookKeys } from '#libs/realtimekit';
import type { FeatureHandlers } from '#libs/service';
import type { Metrics } from '#libs/telemetry';
import type { Clock } from '#libs/time';
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
