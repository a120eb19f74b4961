/** Composes the agents service from database, bus, language model and chat runtime. */
import { removeOldHistory } from '#libs/product/history';
import { cleanupIntervalMs, IdempotencyStore, removeOldRecords } from '#libs/infrastructure/idempotency';
import type { JobTuning } from '#libs/infrastructure/jobs';
import { createServiceRuntime } from '#libs/infrastructure/service';
import type { Service } from '#libs/infrastructure/lifecycle';
import type { Logger } from '#libs/infrastructure/logger';
import { createOutbound } from '#libs/infrastructure/outbound';
import { jobsOf, pipelineJobs } from '#libs/product/pipeline';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import { measureReceipts, sweepReceipts, receiptSweepIntervalMs } from '#libs/product/webhooks';
import { type Clock, systemClock } from '#libs/infrastructure/time';
import { createAgentHistory } from './agent/index.ts';
import { createBotApi } from './telegram/bot-api.ts';
import { createChatRuntime } from './chat/runtime.ts';
import { createAdmit } from './chat/index.ts';
import { sweepTicketsAndHits } from './chat/statements.ts';
import { createTurnQueue } from './chat/turn-queue.ts';
import type { AgentsConfig } from './config.ts';
import { agents } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { createHandlers } from './handlers.ts';
import { createConfiguredModel } from './language-model/index.ts';
import { enqueueThreadMemory } from './memory/index.ts';
import { createMessagingHtml } from './messaging-html.ts';
import { countReceipts, dropOldContents } from './receipts/statements.ts';
import { startUpdateIntake } from './telegram/workers/update-intake.ts';
import { ThreadChangeNotifier } from './thread-changes.ts';
import { createOnDead, createWorkers } from './workers.ts';

export interface AgentsOptions {
  config: AgentsConfig;
  logger?: Logger;
  clock?: Clock;
  pipeline?: PipelineExtension;
  /** Shorter intervals for tests that kill processes. */
  tuning?: Partial<JobTuning> & { readonly turnLeaseMs?: number };
}

/**
 * Time that running turns have to end when the service stops. Turns still running then return 503 and record nothing.
 */
const turnGraceMs = 15_000;
const sweepIntervalMs = 300_000;

export async function createService(options: AgentsOptions): Promise<Service> {
  const { config, clock = systemClock, pipeline, tuning = {} } = options;
  const jobContract = { ...agents, jobs: { ...agents.jobs, ...jobsOf('agents', pipeline?.registry ?? pipelineJobs) } };
  const runtime = await createServiceRuntime({ contract: agents, jobContract, config, logger: options.logger, tuning });
  const { db, bus, jobs, logger, metrics } = runtime;
  const stopping = new AbortController();
  const threadChanges = new ThreadChangeNotifier(bus);
  const html = createMessagingHtml();
  const model = createConfiguredModel(config, { db, logger, metrics });
  const outbound = createOutbound({
    allowedHosts: config.OUTBOUND_ALLOWED_HOSTS,
    baseUrls: [config.TELEGRAM_API_ROOT],
    metrics,
  });
  runtime.onClose(() => outbound.close());
  const leaseMs = tuning.turnLeaseMs;
  const deps: Dependencies = {
    config,
    db,
    bus,
    jobs,
    history: createAgentHistory(),
    idempotency: new IdempotencyStore(jobs),
    logger,
    metrics,
    clock,
    html,
    model,
    runtime:
      model === undefined
        ? undefined
        : createChatRuntime({
            db,
            queue: createTurnQueue({ db, logger, ...(leaseMs === undefined ? {} : { leaseMs }) }),
            model,
            html,
            promptTokens: config.LLM_PROMPT_TOKENS,
            knowledge: config.AGENT_KNOWLEDGE,
            enqueueMemory: (tx, threadId) => enqueueThreadMemory(tx, { config, jobs }, threadId),
            watchThread: (threadId, onChange) => threadChanges.watch(threadId, onChange),
          }),
    bot: createBotApi({ apiRoot: config.TELEGRAM_API_ROOT, outbound, sendTimeoutMs: config.TELEGRAM_TIMEOUT_MS }),
    admit: createAdmit({
      db,
      metrics,
      perMinute: { visitor: config.RATE_LIMIT_CHAT_PER_MINUTE, address: config.RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE },
    }),
    threadChanges,
    stopping: stopping.signal,
    pipeline,
  };
  measureReceipts(metrics, async () =>
    (await countReceipts(db)).map((counted) => ({ source: 'telegram', ...counted })),
  );

  return runtime.service(async () => {
    runtime.setStatusProvider(async () => ({
      webhooks: (await countReceipts(db)).map((count) => ({ kind: 'telegram', ...count })),
    }));
    runtime.onStop(() => threadChanges.stop());
    runtime.onClose(
      bus.subscribeEvent(agents.events.threadChanged, ({ thread_id: id }) => threadChanges.notifyLocal(id)),
    );
    await runtime.serve(createHandlers(deps));
    runtime.abortAfter(turnGraceMs, () => stopping.abort());
    await jobs.work(createWorkers(deps), { onDead: createOnDead(deps) });
    runtime.stopBeforeWorkers(await startUpdateIntake(deps));
    runtime.runEvery(sweepIntervalMs, 'chat: clean-up failed', () => sweepTicketsAndHits(db));
    runtime.runEvery(cleanupIntervalMs, 'failed to remove old idempotency records', (signal) =>
      removeOldRecords(db, { signal }),
    );
    runtime.runEvery(sweepIntervalMs, 'history: failed to remove old entries', (signal) =>
      removeOldHistory(db, { days: config.HISTORY_RETENTION_DAYS, signal }),
    );
    const retention = { db, dropContents: dropOldContents, days: config.RECEIPT_RETENTION_DAYS };
    runtime.runEvery(
      receiptSweepIntervalMs,
      'receipts: failed to sweep old receipts',
      (signal) => sweepReceipts({ ...retention, signal }),
      {
        immediately: true,
      },
    );
    return { runtime: deps.runtime === undefined ? 'not configured' : 'configured' };
  });
}
