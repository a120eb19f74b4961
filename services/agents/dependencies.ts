/** Dependencies that handlers, jobs and the update intake share. `service.ts` creates them once. */
import type { IdempotencyStore } from '#libs/infrastructure/idempotency';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import type { Metrics } from '#libs/infrastructure/telemetry';
import type { Clock } from '#libs/infrastructure/time';
import type { AgentHistory } from './agent/index.ts';
import type { Admit, ChatRuntime } from './chat/index.ts';
import type { AgentsConfig } from './config.ts';
import type { agents } from './contract.ts';
import type { MeasuredModel } from './language-model/index.ts';
import type { MessagingHtml } from './messaging-html.ts';
import type { BotApi } from './telegram/index.ts';
import type { ThreadChangeNotifier } from './thread-changes.ts';

export interface Dependencies {
  readonly config: AgentsConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs<typeof agents>;
  readonly history: AgentHistory;
  readonly idempotency: IdempotencyStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly bot: BotApi;
  /** Undefined when no language model is configured; `runtime` is then undefined too. */
  readonly model: MeasuredModel | undefined;
  readonly runtime: ChatRuntime | undefined;
  readonly html: MessagingHtml;
  readonly admit: Admit;
  readonly threadChanges: ThreadChangeNotifier;
  /** Aborts when the service stops and its grace period has ended. */
  readonly stopping: AbortSignal;
  readonly pipeline: PipelineExtension | undefined;
}
