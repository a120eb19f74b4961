/** What the service answers over NATS. */
import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { createAgentHandlers } from './agent/handlers.ts';
import type { BotApi } from './bot/bot-api.ts';
import { createBotWebhookHandlers } from './bot/handlers.ts';
import { createChatHandler } from './chat/handlers.ts';
import type { ChatRuntime } from './chat/runtime.ts';
import type { AgentsConfig } from './config.ts';
import type { agents } from './contract.ts';
import { createForgetHandlers } from './forget/handlers.ts';
import { createKnowledgeHandlers } from './knowledge/handlers.ts';
import { createListUsage } from './language-model/handlers.ts';
import type { RenewAgentMemory } from './memory/workers.ts';
import { createExportPerson } from './person-data/handlers.ts';
import { createReceiptHandlers } from './receipts/handlers.ts';
import { createGetRecord } from './record/handlers.ts';
import { createWorkspaceExport, createWorkspaceHandler } from './workspace/handlers.ts';

export interface HandlerDependencies {
  readonly config: AgentsConfig;
  readonly db: Database;
  readonly jobs: Jobs<typeof agents>;
  readonly metrics: Metrics;
  readonly bot: BotApi;
  /** Undefined when no language model is configured. */
  readonly runtime: ChatRuntime | undefined;
  readonly renewAgentMemory: RenewAgentMemory;
  /** Aborts when the service stops and can wait no longer. */
  readonly stopping: AbortSignal;
}

export function createHandlers(deps: HandlerDependencies): Handlers<typeof agents> {
  const { config, db, jobs, metrics, bot, runtime, renewAgentMemory, stopping } = deps;
  const { ALLOW_UNSIGNED_WEBHOOKS: allowUnsigned, AGENT_KNOWLEDGE: mode } = config;
  const messagesPerMinute = { visitor: config.RATE_LIMIT_CHAT_PER_MINUTE, address: config.RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE };
  return {
    ...jobAdminHandlers(jobs),
    ...createAgentHandlers(db),
    ...createReceiptHandlers({ db, jobs }),
    ...createBotWebhookHandlers({ db, bot, allowUnsigned }),
    ...createForgetHandlers({ db, jobs, memoryDelayMs: config.MEMORY_DELAY_MS, renewAgentMemory }),
    ...createKnowledgeHandlers({ db, mode, renewAgentMemory }),
    sendChatMessage: createChatHandler({ db, runtime, metrics, messagesPerMinute, stopping }),
    getRecord: createGetRecord(db),
    listUsage: createListUsage(db),
    exportPerson: createExportPerson(db),
    applyWorkspace: createWorkspaceHandler(db, allowUnsigned),
    exportWorkspace: createWorkspaceExport(db),
  };
}
