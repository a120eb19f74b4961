/**
 * Base of all pipeline job workers (rules/steps#pipeline-jobs): reads the step's configuration, reports the outcome to
 * the conversation in the transaction of the effect, wakes waiting jobs on provider events, and notes dead jobs.
 */
import { createHash } from 'node:crypto';
import type { DurableConsumer, Event, Job, Rpc, Static, TObject } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { DeadJob, JobHandler, JobRun, Jobs, OnDead } from '#libs/infrastructure/jobs';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import type { Logger } from '#libs/infrastructure/logger';
import { type Bus, consumeEvent, type RunningConsumer } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { fillDefaults, jobOf, type PipelineJob, PipelinePayload, type PipelineRegistry } from '#libs/product/pipeline';
import { compileSchema } from '#libs/infrastructure/schema';

/** Values by key, in the groups of `infos.publishing` (D18a). */
export interface PublishingPatch {
  /** Values for fields. A field that a person wrote is not overwritten. */
  readonly fields?: JsonObject;
  /** Values for records. A record that a person wrote is not overwritten. */
  readonly records?: JsonObject;
  /** Replaces stored artifacts. */
  readonly artifacts?: JsonObject;
}

/** Outcome of a finished job, reported to the conversation. */
export interface PipelineOutcome {
  /** Result that is stored with the job. It must not contain transcript text or names of people. */
  readonly result: JsonObject;
  /** Note that is added to the conversation; null: no note. */
  readonly note: string | null;
  /** Whether the job did its work. If true, the conversation advances when the step's configuration enables it (D6). */
  readonly succeeded: boolean;
  readonly publishing?: PublishingPatch;
}

/** One attempt of one pipeline job. */
export interface PipelineRun<Config> {
  readonly run: JobRun<PipelinePayload>;
  readonly conversationId: number;
  /**
   * The step's configuration, validated and with the schema's defaults. Contains only defaults when no step started the
   * job, or when the step now has another job.
   */
  readonly config: Config;
  /** Runs `work`, completes the job and reports the outcome, all in one transaction. */
  readonly finish: (work: (tx: Tx) => Promise<PipelineOutcome>) => Promise<void>;
}

export interface PipelineWorkerDependencies {
  readonly bus: Bus;
  readonly jobs: Pick<Jobs, 'enqueue' | 'transaction'>;
  /** Contracts of the operations and jobs of other services that a worker calls. */
  readonly contracts: {
    /** `directory.steps.get-config`. */
    readonly getStepConfig: Rpc;
    /** `conversations.pipeline-finished`. */
    readonly pipelineFinished: Job;
  };
}

/** Declaration and handler of a pipeline job; created by `pipelineWorker`. */
export interface PipelineWorker {
  readonly declaration: PipelineJob;
  readonly work: (run: PipelineRun<never>) => Promise<void>;
}

/**
 * Declares the handler of a pipeline job. `work` must call `finish` exactly once; it throws the same errors as a job
 * handler.
 */
export function pipelineWorker<Config extends TObject>(
  declaration: PipelineJob<Config>,
  work: (run: PipelineRun<Static<Config>>) => Promise<void>,
): PipelineWorker {
  return { declaration, work };
}

/** Option of `createService` for services with pipeline jobs: another registry and its workers. */
export interface PipelineExtension {
  readonly registry: PipelineRegistry;
  readonly workers?: readonly PipelineWorker[];
}

/** Returns the handlers by job type, for `jobs.work`. */
export function createPipelineWorkers(
  deps: PipelineWorkerDependencies,
  workers: readonly PipelineWorker[],
): Record<string, JobHandler<never>> {
  return Object.fromEntries(workers.map((worker) => [worker.declaration.jobType, createHandler(deps, worker)]));
}

function createHandler(
  deps: PipelineWorkerDependencies,
  { declaration, work }: PipelineWorker,
): JobHandler<PipelinePayload> {
  return async (run) => {
    const step = await readStep(deps, declaration, run);
    let finished = false;
    await work({
      run,
      conversationId: run.payload.conversation_id,
      config: step.config as never,
      finish: async (effect) => {
        await run.complete(async (tx) => {
          const outcome = await effect(tx);
          await reportOutcome(deps, tx, declaration, run, outcome, step.advances);
          return outcome.result;
        });
        finished = true;
      },
    });
    if (!finished) throw new Error(`the worker of ${declaration.name} ended without a result`);
  };
}

/**
 * Reads the current configuration of the step, so that a PATCH applies to every later attempt
 * (rules/steps#step-configuration).
 */
async function readStep(
  { bus, contracts }: PipelineWorkerDependencies,
  declaration: PipelineJob,
  run: JobRun<PipelinePayload>,
): Promise<{ config: JsonObject; advances: boolean }> {
  const { step_id: stepId } = run.payload;
  const own = { config: fillDefaults(declaration.config, {}), advances: false };
  if (stepId === null) return own;
  try {
    const reply = await bus.call(contracts.getStepConfig, { step_id: stepId }, run.context);
    const step = reply as { pipeline_job: string | null; config: JsonObject };
    if (step.pipeline_job !== declaration.name) return own;
    return { config: step.config, advances: step.config['advance_on_success'] === true };
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return own;
    throw error;
  }
}

async function reportOutcome(
  { jobs, contracts }: PipelineWorkerDependencies,
  tx: Tx,
  declaration: PipelineJob,
  run: JobRun<PipelinePayload>,
  { note, succeeded, publishing }: PipelineOutcome,
  advances: boolean,
): Promise<void> {
  const { conversation_id, step_id } = run.payload;
  const advance = succeeded && advances && step_id !== null;
  if (note === null && !advance && publishing === undefined) return;
  const payload = {
    conversation_id,
    step_id,
    pipeline_job: declaration.name,
    note_key: run.id,
    note,
    advance,
    ...(publishing === undefined ? {} : { publishing }),
  };
  await jobs.enqueue(tx, contracts.pipelineFinished, payload, { requestId: run.requestId });
}

/**
 * Returns a callback for `jobs.work` that adds a note to the conversation of a dead pipeline job. The note shows the
 * job's error text to people.
 */
export function noteDeadJobs({ jobs, contracts }: PipelineWorkerDependencies, registry: PipelineRegistry): OnDead {
  const declarations = new Map([...registry.values()].map((declaration) => [declaration.jobType, declaration]));
  return async (tx, job) => {
    const declaration = declarations.get(job.type);
    // An invalid payload does not contain a conversation id.
    if (declaration === undefined || checkPayload(job.payload) !== undefined) return;
    const { conversation_id, step_id } = job.payload as PipelinePayload;
    const note = `${declaration.name} failed: ${job.error}${describeCause(job, jobOf(declaration))}`;
    const report = {
      conversation_id,
      step_id,
      pipeline_job: declaration.name,
      note_key: `${job.id}:failed:${job.lease}`,
      note,
      advance: false,
    };
    await jobs.enqueue(
      tx,
      contracts.pipelineFinished,
      report,
      job.requestId === null ? {} : { requestId: job.requestId },
    );
  };
}

const checkPayload = compileSchema(PipelinePayload);

function describeCause({ cause, attempts }: DeadJob, { policy: { expiresAfterMs } }: Job): string {
  if (cause === 'permanent') return '';
  if (cause === 'age') return ` (given up after ${Math.round((expiresAfterMs ?? 0) / 86_400_000)} days)`;
  return ` (given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`;
}

/** Runs waiting jobs at once when the provider reports an event of their meeting. Polling continues as the fallback. */
export async function consumeProviderEvents(deps: {
  readonly service: string;
  readonly bus: Bus;
  readonly jobs: Pick<Jobs, 'wake'>;
  readonly logger: Logger;
  readonly registry: PipelineRegistry;
  readonly consumer: DurableConsumer;
  readonly meetingReported: Event;
}): Promise<RunningConsumer> {
  const { service, jobs, logger, registry, consumer, meetingReported } = deps;
  const waiting = [...registry.values()]
    .filter((item) => item.waitsForProvider === true && item.jobType.startsWith(`${service}.`))
    .map(jobOf);
  // Wakes all waiting jobs at startup, because events published while no replica ran can be lost (D97).
  for (const declaration of waiting) await jobs.wake(declaration, {});
  return await consumeEvent(deps, consumer, meetingReported, async (payload) => {
    const { conversation_id } = payload as { conversation_id: number };
    for (const declaration of waiting) {
      const woken = await jobs.wake(declaration, { conversation_id });
      if (woken > 0)
        logger.info(
          { job: declaration.type, conversationId: conversation_id, woken },
          'meeting event received: running waiting jobs',
        );
    }
  });
}

export interface Provenance {
  /** Name of the pipeline job. */
  readonly source: string;
  /** ISO 8601. */
  readonly at: string;
  readonly [key: string]: unknown;
}

/** Wraps a value with its provenance. The digest reveals whether a person edited the value later. */
export function wrapValue(value: unknown, provenance: Provenance): JsonObject {
  return { value, provenance: { ...provenance, value_digest: digestValue(value) } };
}

/**
 * Returns the provenance of a stored envelope; undefined when `source` did not write the value or the value was edited.
 */
export function readProvenance(stored: unknown, source: string): JsonObject | undefined {
  if (!isJsonObject(stored) || Object.keys(stored).length !== 2 || !isJsonObject(stored['provenance']))
    return undefined;
  const { provenance } = stored;
  const isOurs = provenance['source'] === source && provenance['value_digest'] === digestValue(stored['value']);
  return isOurs ? provenance : undefined;
}

/** Returns the SHA-256 of the value as JSON. Keys are sorted, because the database does not preserve key order. */
export function digestValue(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(value)) ?? 'null')
    .digest('hex');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}
