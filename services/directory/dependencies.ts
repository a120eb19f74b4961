/** Dependencies of handlers and workers. service.ts creates them once. */
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { IdempotencyStore } from '#libs/infrastructure/idempotency';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import type { PipelineJob } from '#libs/product/pipeline';
import type { Clock } from '#libs/infrastructure/time';
import type { LoginThrottle, Passwords, RefusedLogins } from './accounts/index.ts';
import type { DirectoryConfig } from './config.ts';
import type { DirectoryHistory } from './history/index.ts';
import type { Keys, KeyUses } from './keys/index.ts';
import type { Today } from './workflow/index.ts';

export interface Dependencies {
  readonly config: DirectoryConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly idempotency: IdempotencyStore;
  readonly history: DirectoryHistory;
  readonly clock: Clock;
  /** Today's date in the time zone of worklists (D50). */
  readonly today: Today;
  /** Jobs that steps can name. */
  readonly pipeline: ReadonlyMap<string, PipelineJob>;
  readonly passwords: Passwords;
  /**
   * Separate password queue for callers without the gate key, so that they do not delay callers with it. The console
   * uses this queue too.
   */
  readonly gatePasswords: Passwords;
  readonly throttle: LoginThrottle;
  readonly refused: RefusedLogins;
  readonly keys: Keys;
  readonly keyUses: KeyUses;
}
