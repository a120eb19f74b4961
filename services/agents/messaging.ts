/** The messaging side of the service: its intake, its jobs and what operators do with it, put together. */
import { createOutbound } from '#libs/outbound';
import type { Metrics } from '#libs/telemetry';
import { createBotApi } from './bot/bot-api.ts';
import { createBotWebhookHandlers } from './bot/handlers.ts';
import type { ChatRuntime } from './chat/runtime.ts';
import type { AgentsConfig } from './config.ts';
import { agents } from './contract.ts';
import { createReceiptHandlers } from './receipts/handlers.ts';
import { countReceipts } from './receipts/statements.ts';
import { createIntakeOrder } from './telegram/intake-order.ts';
import { createEchoWorker } from './telegram/workers/echo-update.ts';
import { type IntakeDependencies, startUpdateIntake } from './telegram/workers/update-intake.ts';
import { createChatWorker } from './telegram/workers/work-chat.ts';

export interface MessagingDependencies extends Omit<IntakeDependencies, 'allowUnsigned'> {
  readonly config: AgentsConfig;
  readonly metrics: Metrics;
  /** Undefined when no language model is configured: chats are told so. */
  readonly runtime: ChatRuntime | undefined;
}

export function createMessaging(deps: MessagingDependencies) {
  const { db, bus, jobs, config, metrics, runtime } = deps;
  const { ALLOW_UNSIGNED_WEBHOOKS: allowUnsigned } = config;
  const outbound = createOutbound({ allowedHosts: config.OUTBOUND_ALLOWED_HOSTS, baseUrls: [config.TELEGRAM_API_ROOT], metrics });
  const bot = createBotApi({ apiRoot: config.TELEGRAM_API_ROOT, outbound, sendTimeoutMs: config.TELEGRAM_TIMEOUT_MS });
  metrics.gauge('webhook_receipts_recent', 'Webhooks of the last day by source and outcome', ['source', 'outcome'], async (gauge) => {
    const rows = await countReceipts(db);
    gauge.reset();
    for (const { outcome, count } of rows) gauge.set({ source: 'telegram', outcome }, count);
  });
  return {
    handlers: { ...createReceiptHandlers({ db, jobs }), ...createBotWebhookHandlers({ db, bot, allowUnsigned }) },
    workers: {
      workChat: createChatWorker({ db, jobs, bot, runtime, order: createIntakeOrder(bus, agents.consumers.updates.durable) }),
      echoUpdate: createEchoWorker({ db, bot }),
    },
    /** Begins to take updates; stop it before the jobs. */
    startIntake: () => startUpdateIntake({ ...deps, allowUnsigned }),
    close: () => outbound.close(),
  };
}
