/** Composition of the agents service: database, bus, language model and the chat runtime. */
import { createActorVerifier } from '#libs/actor';
import { createJobs, type JobTuning } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { connectBus, createBusMetrics } from '#libs/nats';
import { createDatabase, type Database, measurePool, waitForMigrations } from '#libs/orm';
import { createModel } from '#libs/openai';
import { createOutbound } from '#libs/outbound';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { createTelemetry, type Metrics } from '#libs/telemetry';
import { startReceiptRetention } from '#libs/webhooks';
import { type Clock, systemClock } from '#libs/time';
import { createBotApi } from './bot/bot-api.ts';
import { createChatRuntime } from './chat/runtime.ts';
import { sweepTickets } from './chat/statements/turn-tickets.ts';
import { createTurnQueue } from './chat/turn-queue.ts';
import type { AgentsConfig } from './config.ts';
import { agents } from './contract.ts';
import { createHandlers } from './handlers.ts';
import { createMeasuredModel } from './language-model/measured-model.ts';
import { createTokenBudget } from './language-model/token-budget.ts';
import { createRenewAgentMemory, enqueueThreadMemory } from './memory/workers.ts';
import { createMessagingHtml } from './messaging-html.ts';
import { migrations } from './migrations/index.ts';
import { countReceipts } from './receipts/statements.ts';
import { startUpdateIntake } from './telegram/workers/update-intake.ts';
import { createWorkers } from './workers.ts';

export interface AgentsOptions {
  config: AgentsConfig;
  logger?: Logger;
  clock?: Clock;
  pipeline?: PipelineExtension;
  /** Times of the machinery; tests that kill processes shorten them. */
  tuning?: Partial<JobTuning> & { readonly turnLeaseMs?: number };
}

/** Time that turns under way have to finish when the service stops; after it they answer 503 and record nothing. */
const turnGraceMs = 15_000;
const sweepIntervalMs = 300_000;

export async function createService({
  config,
  logger: given,
  clock = systemClock,
  pipeline,
  tuning = {},
}: AgentsOptions): Promise<Service> {
  const logger = given ?? createLogger({ service: 'agents', level: config.LOG_LEVEL });
  const db = await createDatabase({
    url: config.DATABASE_URL,
    schema: 'agents',
    poolSize: config.DATABASE_POOL_SIZE,
    logger,
    applicationName: 'agents',
  });
  const telemetry = createTelemetry({
    service: 'agents',
    logger,
    settings: config,
    checks: { postgresql: () => db.ping(), nats: () => bus.ping() },
  });
  measurePool(telemetry.metrics, db);
  const bus = await connectBus({
    url: config.NATS_URL,
    name: 'agents',
    caller: 'agents',
    actors: createActorVerifier(config.ACTOR_PUBLIC_KEY),
    prefix: config.NATS_SUBJECT_PREFIX,
    checkReplies: config.CHECK_REPLIES,
    logger,
    metrics: createBusMetrics(telemetry.metrics),
  });
  const contract = { ...agents, jobs: { ...agents.jobs, ...jobsOf('agents', pipeline?.registry ?? pipelineJobs) } };
  const jobs = createJobs({ contract, db, bus, logger, metrics: telemetry.metrics, tuning });
  const stopping = new AbortController();
  const model = configureModel(config, { db, logger, metrics: telemetry.metrics });
  const runtime =
    model === undefined
      ? undefined
      : createChatRuntime({
          db,
          queue: createTurnQueue({ db, logger, ...(tuning.turnLeaseMs === undefined ? {} : { leaseMs: tuning.turnLeaseMs }) }),
          model,
          html: createMessagingHtml(),
          promptTokens: config.LLM_PROMPT_TOKENS,
          knowledge: config.AGENT_KNOWLEDGE,
          remember: (tx, threadId) => enqueueThreadMemory(tx, jobs, threadId, config.MEMORY_DELAY_MS),
        });
  const renewAgentMemory = createRenewAgentMemory(jobs, config.AGENT_KNOWLEDGE, config.MEMORY_DELAY_MS);
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.TELEGRAM_API_ROOT],
    metrics: telemetry.metrics,
  });
  const bot = createBotApi({ apiRoot: config.TELEGRAM_API_ROOT, outbound, sendTimeoutMs: config.TELEGRAM_TIMEOUT_MS });
  measureReceipts(telemetry.metrics, db);
  const shared = { config, db, bus, jobs, metrics: telemetry.metrics, bot, runtime, renewAgentMemory };
  let intake: { stop(): Promise<void> } | undefined;
  let responder: { drain(): Promise<void> } | undefined;
  let sweeper: NodeJS.Timeout | undefined;
  let stopRetention: (() => void) | undefined;

  return {
    start: async () => {
      await telemetry.start();
      await waitForMigrations({ db, schema: 'agents', migrations, logger });
      await bus.waitForStreams();
      responder = await bus.serve(agents, createHandlers({ ...shared, stopping: stopping.signal }));
      await jobs.work(createWorkers({ ...shared, clock, model, pipeline }));
      intake = await startUpdateIntake({ db, bus, jobs, logger, allowUnsigned: config.ALLOW_UNSIGNED_WEBHOOKS });
      sweeper = setInterval(() => {
        sweepTickets(db).catch((error: unknown) => logger.warn({ err: error }, 'clean-up failed'));
      }, sweepIntervalMs);
      stopRetention = startReceiptRetention({
        db,
        logger,
        schema: 'agents',
        contents: ['body', 'reply_html'],
        days: config.RECEIPT_RETENTION_DAYS,
      });
      telemetry.started();
      logger.info({ metricsPort: telemetry.port, runtime: runtime === undefined ? 'not configured' : 'configured' }, 'agents is ready');
    },
    stop: async () => {
      telemetry.draining();
      clearInterval(sweeper);
      stopRetention?.();
      const grace = setTimeout(() => stopping.abort(), turnGraceMs);
      await Promise.all([responder?.drain(), (intake?.stop() ?? Promise.resolve()).then(() => jobs.stop())]);
      clearTimeout(grace);
      await outbound.close();
      await bus.close();
      await db.close();
      await telemetry.stop();
    },
  };
}

function measureReceipts(metrics: Metrics, db: Database): void {
  metrics.gauge('webhook_receipts_recent', 'Webhooks of the last day by source and outcome', ['source', 'outcome'], async (gauge) => {
    const rows = await countReceipts(db);
    gauge.reset();
    for (const { outcome, count } of rows) gauge.set({ source: 'telegram', outcome }, count);
  });
}

/** Undefined when no language model is configured. */
function configureModel(
  config: AgentsConfig,
  deps: Omit<Parameters<typeof createMeasuredModel>[0], 'models' | 'budget'>,
): ReturnType<typeof createMeasuredModel> | undefined {
  if (config.LLM_BASE_URL === '') return undefined;
  const settings = { baseUrl: config.LLM_BASE_URL, apiKey: config.LLM_API_KEY, timeoutMs: config.LLM_TIMEOUT_MS };
  const chat = createModel({ ...settings, model: config.LLM_MODEL });
  const memory = createModel({ ...settings, model: config.LLM_MEMORY_MODEL || config.LLM_MODEL });
  const publishing = createModel({ ...settings, model: config.LLM_SUMMARY_MODEL || config.LLM_MODEL });
  const budget = createTokenBudget({ ...deps, dailyTokens: config.LLM_DAILY_TOKENS });
  return createMeasuredModel({ ...deps, models: { chat, memory, publishing }, budget });
}
