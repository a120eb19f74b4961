/** Declaration of pipeline jobs, from which the broker jobs are derived (rules/steps#pipeline-jobs). */
import { type Job, job, type JobPolicy, type Static, type TObject, Type } from '#libs/infrastructure/contract';

/**
 * Access of clients to a configuration field. `read_write`: returned and patchable. `read`: only returned. `hidden`:
 * not returned and not patchable; a patch preserves it (rules/steps#step-configuration).
 */
export type FieldAccess = 'read_write' | 'read' | 'hidden';

/** Work that starts when a conversation enters a step. */
export interface PipelineJob<Config extends TObject = TObject> {
  /** Name that a step's `pipeline_job` contains, e.g. `transcript_import`. */
  readonly name: string;
  readonly summary: string;
  /** Type of the enqueued job, `<service>.<job>`. The named service runs the job. */
  readonly jobType: string;
  /** Settings that override the default job policy. */
  readonly policy?: Partial<JobPolicy>;
  /**
   * Whether the job starts again when the transcript window becomes complete after the conversation entered the step
   * (D7a).
   */
  readonly restartOnWindowComplete?: boolean;
  /** Whether a waiting job runs immediately when the meeting provider reports an event of the meeting. */
  readonly waitsForProvider?: boolean;
  /** Schema of the step's configuration. Every property has a default or is optional; unknown keys are rejected. */
  readonly config: Config;
  /** Access by top-level key. Keys that are not listed are neither returned nor accepted. */
  readonly fields: Readonly<Record<string, FieldAccess>>;
}

/** Registered pipeline jobs by name. */
export type PipelineRegistry = ReadonlyMap<string, PipelineJob>;

export const PipelinePayload = Type.Object({
  conversation_id: Type.Integer({ description: 'Id of the conversation.' }),
  step_id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Step that started the job and whose configuration applies; null when it was started otherwise.',
  }),
  cause: Type.String({ description: 'What started it: `step_entered`, `window_completed`, `command`, …' }),
});
/** Payload of every pipeline job. */
export type PipelinePayload = Static<typeof PipelinePayload>;

/** Setting that all pipeline jobs have (D6). */
export const advanceOnSuccess = Type.Boolean({
  default: false,
  description: 'Move the conversation to the next step after the job succeeds, if this step is still the current one.',
});

const jobsByDeclaration = new WeakMap<PipelineJob, Job<typeof PipelinePayload>>();

/** Returns the broker job of a declaration; every call returns the same object. */
export function jobOf(declaration: PipelineJob): Job<typeof PipelinePayload> {
  const { jobType: type, summary, policy } = declaration;
  const found =
    jobsByDeclaration.get(declaration) ??
    job({
      type,
      summary,
      startedBy: ['conversations'],
      payload: PipelinePayload,
      ...(policy === undefined ? {} : { policy }),
    });
  jobsByDeclaration.set(declaration, found);
  return found;
}

/** Returns the registry's jobs that a service runs, by type, for the contract of the service. */
export function jobsOf(service: string, registry: PipelineRegistry): Record<string, Job<typeof PipelinePayload>> {
  const own = [...registry.values()].filter(({ jobType }) => jobType.startsWith(`${service}.`));
  return Object.fromEntries(own.map((item) => [item.jobType, jobOf(item)]));
}

/**
 * Policy of jobs that wait for recordings, transcripts or texts. Retries start after 15 s, back off to 15 minutes and
 * end after seven days, because the provider stores its files for seven days (D7a). Declarations add timeout and
 * concurrency.
 */
export const waitingPolicy = Object.freeze({
  maxAttempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 15_000,
  maxDelayMs: 900_000,
  expiresAfterMs: 7 * 24 * 3_600_000,
} satisfies Partial<JobPolicy>);
