/** Composes the job library for one service. */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, ServiceContract } from '#libs/infrastructure/contract';
import type { Tx } from '#libs/infrastructure/orm';
import { createJobAdmin } from './admin.ts';
import { Outbox } from './outbox.ts';
import { createJobMetrics } from './metrics.ts';
import { Relay } from './relay.ts';
import { wakeJobs } from './statements.ts';
import { Sweeper } from './sweeper.ts';
import { defaultTuning, type JobHandler, type Jobs, type JobsOptions, type WorkOptions } from './types.ts';
import { Worker } from './worker.ts';

/** Maximum time that a committed transaction waits for the broker. */
const relayWaitMs = 1_000;

/** Creates the jobs of one service. Enqueueing works immediately; `work` starts relay, sweeper and workers. */
export function createJobs<C extends ServiceContract>(options: JobsOptions<C>): Jobs<C> {
  const { contract, db, bus, logger } = options;
  const { service } = contract;
  const tuning = { ...defaultTuning, ...options.tuning };
  const declarations = Object.values(contract.jobs);
  const relay = new Relay({ db, bus, logger, tuning });
  const outbox = new Outbox({ service, relay, tuning });
  const types = declarations.map(({ type }) => type);
  const metrics = createJobMetrics(options.metrics, db, types);
  const worker = options.worker ?? `${hostname()}/${process.pid}`;

  const transaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    let committed: Tx | undefined;
    const result = await db.transaction((tx) => {
      committed = tx;
      return work(tx);
    });
    const sending = committed === undefined ? undefined : outbox.sendingOf(committed);
    if (sending !== undefined) await waitAtMost(sending, relayWaitMs);
    return result;
  };

  const sweeper = new Sweeper({ db, bus, jobs: { transaction }, relay, logger, tuning, declarations });
  const workers = new Worker({
    service,
    db,
    bus,
    jobs: { transaction },
    relay,
    sweeper,
    logger,
    metrics,
    worker,
    tuning,
  });
  let started: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const start = async (
    handlers: Readonly<Record<string, JobHandler<never>>>,
    { onDead }: WorkOptions,
  ): Promise<void> => {
    const lines = matchHandlers(contract, handlers);
    relay.start();
    sweeper.start(onDead);
    try {
      await workers.start(lines, onDead);
    } catch (error) {
      await stopParts();
      throw error;
    }
  };

  const stopParts = async (): Promise<void> => {
    await sweeper.stop();
    await workers.stop();
    await relay.stop();
  };
  /** After a failed start there are no workers to stop. */
  const stop = async (): Promise<void> => {
    await started?.then(stopParts, () => undefined);
  };

  return {
    enqueue: (tx, declaration, payload, enqueueOptions = {}) =>
      outbox.enqueue(tx, declaration, payload, enqueueOptions),
    emit: async (tx, declaration, payload, emitOptions = {}) => outbox.emit(tx, declaration, payload, emitOptions),
    transaction,
    work: (handlers: Readonly<Record<string, JobHandler<never>>>, workOptions: WorkOptions = {}) =>
      (started ??= start(handlers, workOptions)),
    stop: () => (stopped ??= stop()),
    wake: async ({ type }, match) => {
      const rows = await wakeJobs(db, { type, payload: JSON.stringify(match) });
      if (rows.length > 0) relay.wake();
      return rows.length;
    },
    admin: createJobAdmin(db, relay),
  };
}

/**
 * Returns the handlers by job type. Handlers are declared under the key of the job in the contract or under its type.
 */
function matchHandlers(
  contract: ServiceContract,
  handlers: Readonly<Record<string, JobHandler<never>>>,
): Map<string, { declaration: Job; handler: JobHandler<never> }> {
  const remaining = new Map(Object.entries(handlers));
  const lines = new Map<string, { declaration: Job; handler: JobHandler<never> }>();
  for (const [key, declaration] of Object.entries(contract.jobs)) {
    const handler = remaining.get(key) ?? remaining.get(declaration.type);
    if (handler === undefined) throw new Error(`service ${contract.service}: job ${declaration.type} has no handler`);
    remaining.delete(remaining.has(key) ? key : declaration.type);
    lines.set(declaration.type, { declaration, handler });
  }
  const [extra] = remaining.keys();
  if (extra !== undefined)
    throw new Error(`service ${contract.service}: the handler of "${extra}" belongs to no declared job`);
  return lines;
}

async function waitAtMost(work: Promise<void>, timeoutMs: number): Promise<void> {
  const controller = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: controller.signal, ref: false }).catch(() => undefined);
  await Promise.race([work, timeout]);
  controller.abort();
}
