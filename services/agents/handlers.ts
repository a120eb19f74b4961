/** What the service answers over NATS. */
import { auditHandlers } from '#libs/audit';
import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import type { FeatureHandlers } from '#libs/service';
import { createAgentHandlers } from './agent/handlers.ts';
import type { BotApi } from './bot/bot-api.ts';
import { createBotWebhookHandlers } from './bot/handlers.ts';
import { createAdmit } from './chat/admission.ts';
import { createChatHandlers } from './chat/handlers.ts';
import type { ChatRuntime } from './chat/runtime.ts';
import type { AgentsConfig } from './config.ts';
import type { agents } from './contract.ts';
import { createForgetHandlers } from './forget/handlers.ts';
import { createHandoverHandlers } from './handover/handlers.ts';
import type { ThreadChangeNotifier } from './handover/thread-changes.ts';
import { createKnowledgeHandlers } from './knowledge/handlers.ts';
import { createListUsage } from './language-model/handlers.ts';
import type { EnqueueAgentMemory } from './memory/workers.ts';
import { createExportPerson } from './person-data/handlers.ts';
import { createReceiptHandlers } from './receipts/handlers.ts';
import { createRecordHandlers } from './record/handlers.ts';
import type { MessagingHtml } from './messaging-html.ts';
import { createWorkspaceExport, createWorkspaceHandler } from './workspace/handlers.ts';

export interface HandlerDependencies {
  readonly config: AgentsConfig;
  readonly db: Database;
  readonly jobs: Jobs<typeof agents>;
  readonly metrics: Metrics;
  readonly bot: BotApi;
  /** Undefined when no language model is configured. */
  readonly runtime: ChatRuntime | undefined;
  readonly html: MessagingHtml;
  readonly renewAgentMemory: EnqueueAgentMemory;
  readonly changes: ThreadChangeNotifier;
  /** Aborts when the service stops and can wait no longer. */
  readonly stopping: AbortSignal;
}

export function createHandlers(deps: HandlerDependencies): FeatureHandlers<typeof agents> {
  const { config, db, jobs, metrics, bot, runtime, html, renewAgentMemory, changes, stopping } = deps;
  const { ALLOW_UNSIGNED_WEBHOOKS: allowUnsigned, AGENT_KNOWLEDGE: mode } = config;
  const perMinute = { visitor: config.RATE_LIMIT_CHAT_PER_MINUTE, address: config.RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE };
  const admit = createAdmit({ db, metrics, perMinute });
  return {
    ...jobAdminHandlers(jobs),
    ...auditHandlers(db),
    ...createAgentHandlers(db),
    ...createReceiptHandlers({ db, jobs, allowUnsigned }),
    ...createBotWebhookHandlers({ db, bot, allowUnsigned }),
    ...createForgetHandlers({ db, jobs, memoryDelayMs: config.MEMORY_DELAY_MS, renewAgentMemory }),
    ...createRecordHandlers({ db, html }),
    ...createKnowledgeHandlers({ db, mode, renewAgentMemory }),
    ...createChatHandlers({ db, runtime, html, admit, stopping }),
    ...createHandoverHandlers({ db, jobs, html, memoryDelayMs: config.MEMORY_DELAY_MS, changes, admit }),
    listUsage: createListUsage(db),
    exportPerson: createExportPerson(db),
    applyWorkspace: createWorkspaceHandler(db, allowUnsigned),
    exportWorkspace: createWorkspaceExport(db),
  };
}
