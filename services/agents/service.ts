/** Composition of the agents service: database, bus, language model and the chat runtime. */
import { createActorVerifier } from '#libs/actor';
import { createJobs, jobAdminHandlers, type JobTuning } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { connectBus, createBusMetrics } from '#libs/nats';
import { createDatabase, measurePool, waitForMigrations } from '#libs/orm';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { createPipelineWorkers, type PipelineExtension } from '#libs/pipeline-worker';
import { createTelemetry } from '#libs/telemetry';
import { startReceiptRetention } from '#libs/webhooks';
import { type Clock, systemClock } from '#libs/time';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { createAgentHandlers } from './agent/handlers.ts';
import { createChatHandler } from './chat/handlers.ts';
import { createChatRuntime } from './chat/runtime.ts';
import { sweepTickets } from './chat/statements/turn-tickets.ts';
import { createTurnQueue } from './chat/turn-queue.ts';
import type { AgentsConfig } from './config.ts';
import { agents } from './contract.ts';
import { createForgetHandlers } from './forget/handlers.ts';
import { createKnowledgeHandlers } from './knowledge/handlers.ts';
import { createListUsage } from './language-model/handlers.ts';
import { createMeasuredModel } from './language-model/measured-model.ts';
import { createTokenBudget } from './language-model/token-budget.ts';
import { createAgentMemoryJob, createRenewAgentMemory, createThreadMemoryJob, enqueueThreadMemory } from './memory/workers.ts';
import { createMessagingHtml } from './messaging-html.ts';
import { createMessaging } from './messaging.ts';
import { migrations } from './migrations/index.ts';
import { createExportPerson } from './person-data/handlers.ts';
import { createPublishingSummary } from './publishing-summary/workers.ts';
import { createGetRecord } from './record/handlers.ts';
import { createWorkspaceExport, createWorkspaceHandler } from './workspace/handlers.ts';
import { createModel } from '#libs/openai';

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
  const messaging = createMessaging({ config, db, bus, jobs, logger, metrics: telemetry.metrics, runtime });
  let intake: { stop(): Promise<void> } | undefined;
  let responder: { drain(): Promise<void> } | undefined;
  let sweeper: NodeJS.Timeout | undefined;
  let stopRetention: (() => void) | undefined;

  return {
    start: async () => {
      await telemetry.start();
      await waitForMigrations({ db, schema: 'agents', migrations, logger });
      await bus.waitForStreams();
      responder = await bus.serve(agents, {
        ...jobAdminHandlers(jobs),
        ...messaging.handlers,
        ...createAgentHandlers(db),
        exportPerson: createExportPerson(db),
        ...createForgetHandlers({ db, jobs, memoryDelayMs: config.MEMORY_DELAY_MS, renewAgentMemory }),
        getRecord: createGetRecord(db),
        listUsage: createListUsage(db),
        ...createKnowledgeHandlers({ db, mode: config.AGENT_KNOWLEDGE, renewAgentMemory }),
        applyWorkspace: createWorkspaceHandler(db, config.ALLOW_UNSIGNED_WEBHOOKS),
        exportWorkspace: createWorkspaceExport(db),
        sendChatMessage: createChatHandler({
          db,
          runtime,
          metrics: telemetry.metrics,
          messagesPerMinute: { visitor: config.RATE_LIMIT_CHAT_PER_MINUTE, address: config.RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE },
          stopping: stopping.signal,
        }),
      });
      const memory = {
        db,
        jobs,
        model,
        promptTokens: config.LLM_PROMPT_TOKENS,
        delayMs: config.MEMORY_DELAY_MS,
        knowledge: config.AGENT_KNOWLEDGE,
        renewAgentMemory,
      };
      const contracts = { getStepConfig: directory.rpcs.getStepConfig, pipelineFinished: conversations.jobs.pipelineFinished };
      const modelName = config.LLM_SUMMARY_MODEL || config.LLM_MODEL;
      const summary = createPublishingSummary({ bus, clock, model, modelName, promptTokens: config.LLM_PROMPT_TOKENS });
      await jobs.work({
        ...messaging.workers,
        ...createPipelineWorkers({ bus, jobs, contracts }, [summary, ...(pipeline?.workers ?? [])]),
        threadMemory: createThreadMemoryJob(memory),
        agentMemory: createAgentMemoryJob(memory),
      });
      intake = await messaging.startIntake();
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
      await messaging.close();
      await bus.close();
      await db.close();
      await telemetry.stop();
    },
  };
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
