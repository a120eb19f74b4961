/** What handlers and workers are given; made once by service.ts. */
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { PipelineRegistry } from '#libs/pipeline';
import type { Clock } from '#libs/time';
import type { ConversationAccess } from './access.ts';
import type { ConversationsConfig } from './config.ts';
import type { ConversationView } from './representation.ts';
import type { DirectoryCache } from './directory-cache/index.ts';
import type { Refusals } from './refusals.ts';

export interface Dependencies {
  readonly config: ConversationsConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs;
  /** What is told to the feed. */
  readonly eventOutbox: EventOutbox;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly directory: DirectoryCache;
  readonly view: ConversationView;
  readonly refusals: Refusals;
  readonly access: ConversationAccess;
  /** Jobs that steps may name. */
  readonly pipeline: PipelineRegistry;
}
