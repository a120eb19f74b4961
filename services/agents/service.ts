/** Composition of the agents service: database, bus, language model and the chat runtime. */
import type { JobTuning } from '#libs/jobs';
import { createServiceRuntime } from '#libs/service';
import type { Service } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import { createModel, type Model } from '#libs/openai';
import { createOutbound } from '#libs/outbound';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import type { PipelineExtension } from '#libs/pipeline-worker';
import { measureReceipts, sweepReceipts, receiptSweepIntervalMs } from '#libs/webhooks';
import { type Clock, systemClock } from '#libs/time';
import { createBotApi } from './bot/bot-api.ts';
import { createChatRuntime } from './chat/runtime.ts';
import { sweepTicketsAndHits } from './chat/statements/turn-tickets.ts';
import { createTurnQueue } from './chat/turn-queue.ts';
import type { AgentsConfig } from './config.ts';
import { agents } from './contract.ts';
import { createHandlers } from './handlers.ts';
import { ThreadChangeNotifier } from './handover/thread-changes.ts';
import { createMeasuredModel } from './language-model/measured-model.ts';
import { createStoredHabit } from './language-model/stored-habit.ts';
import { createTokenBudget } from './language-model/token-budget.ts';
import { createEnqueueAgentMemory, enqueueThreadMemory } from './memory/workers.ts';
import { createMessagingHtml } from './messaging-html.ts';
import { countReceipts, dropOldContents } from './receipts/statements.ts';
import { startUpdateIntake } from './telegram/workers/update-intake.ts';
import { createOnDead, createWorkers } from './workers.ts';

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

export async function createService({ config, logger, clock = systemClock, pipeline, tuning = {} }: AgentsOptions): Promise<Service> {
  const jobContract = { ...agents, jobs: { ...agents.jobs, ...jobsOf('agents', pipeline?.registry ?? pipelineJobs) } };
  const runtime = await createServiceRuntime({ contract: agents, jobContract, config, logger, tuning });
  const { db, bus, jobs, metrics } = runtime;
  const stopping = new AbortController();
  const model = configureModel(config, { db, logger: runtime.logger, metrics });
  const html = createMessagingHtml();
  const changes = new ThreadChangeNotifier(bus);
  const chatRuntime =
    model === undefined
      ? undefined
      : createChatRuntime({
          db,
          queue: createTurnQueue({
            db,
            logger: runtime.logger,
            ...(tuning.turnLeaseMs === undefined ? {} : { leaseMs: tuning.turnLeaseMs }),
          }),
          model,
          html,
          promptTokens: config.LLM_PROMPT_TOKENS,
          knowledge: config.AGENT_KNOWLEDGE,
          enqueueMemory: (tx, threadId) => enqueueThreadMemory(tx, jobs, threadId, config.MEMORY_DELAY_MS),
          watchThread: (threadId, onChange) => changes.watch(threadId, onChange),
        });
  const renewAgentMemory = createEnqueueAgentMemory(jobs, config.AGENT_KNOWLEDGE, config.MEMORY_DELAY_MS);
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.TELEGRAM_API_ROOT],
    metrics,
  });
  runtime.onClose(() => outbound.close());
  const bot = createBotApi({ apiRoot: config.TELEGRAM_API_ROOT, outbound, sendTimeoutMs: config.TELEGRAM_TIMEOUT_MS });
  measureReceipts(metrics, async () => (await countReceipts(db)).map((counted) => ({ source: 'telegram', ...counted })));
  const shared = { config, db, bus, jobs, metrics, bot, runtime: chatRuntime, html, renewAgentMemory };

  return runtime.service(async () => {
    runtime.setStatusProvider(async () => ({ webhooks: (await countReceipts(db)).map((count) => ({ kind: 'telegram', ...count })) }));
    runtime.onStop(() => changes.stop());
    runtime.onClose(bus.subscribeEvent(agents.events.threadChanged, ({ thread_id: id }) => changes.wake(id)));
    await runtime.serve(createHandlers({ ...shared, changes, stopping: stopping.signal }));
    runtime.abortAfter(turnGraceMs, () => stopping.abort());
    await jobs.work(createWorkers({ ...shared, clock, model, pipeline }), { onDead: createOnDead({ bus, jobs, pipeline }) });
    runtime.stopBeforeWorkers(
      await startUpdateIntake({ db, bus, jobs, logger: runtime.logger, allowUnsigned: config.ALLOW_UNSIGNED_WEBHOOKS }),
    );
    runtime.runEvery(sweepIntervalMs, 'clean-up failed', () => sweepTicketsAndHits(db));
    const retention = { db, dropContents: dropOldContents, days: config.RECEIPT_RETENTION_DAYS };
    runtime.runEvery(receiptSweepIntervalMs, 'old receipts of webhooks stay for now', (signal) => sweepReceipts({ ...retention, signal }), {
      immediately: true,
    });
    return { runtime: chatRuntime === undefined ? 'not configured' : 'configured' };
  });
}

/** Undefined when no language model is configured. */
function configureModel(
  config: AgentsConfig,
  deps: Omit<Parameters<typeof createMeasuredModel>[0], 'models' | 'budget'>,
): ReturnType<typeof createMeasuredModel> | undefined {
  if (config.LLM_BASE_URL === '') return undefined;
  const settings = { baseUrl: config.LLM_BASE_URL, apiKey: config.LLM_API_KEY, timeoutMs: config.LLM_TIMEOUT_MS };
  const open = (model: string): Model => createModel({ ...settings, model, habit: createStoredHabit(deps, { ...settings, model }) });
  const chat = open(config.LLM_MODEL);
  const memory = open(config.LLM_MEMORY_MODEL || config.LLM_MODEL);
  const publishing = open(config.LLM_SUMMARY_MODEL || config.LLM_MODEL);
  const budget = createTokenBudget({ ...deps, dailyTokens: config.LLM_DAILY_TOKENS });
  return createMeasuredModel({ ...deps, models: { chat, memory, publishing }, budget });
}
