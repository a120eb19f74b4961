/** What one pipeline job is declared with, and the job of the broker that follows from it (rules/steps#pipeline-jobs). */
import { type Job, job, type JobPolicy, type Static, type TObject, Type } from '#libs/contract';

/** `read_write`: returned and patchable; `read`: returned only; `hidden`: neither, kept as it is (rules/steps#step-configuration). */
export type FieldAccess = 'read_write' | 'read' | 'hidden';

/** One kind of work that a conversation may start when it enters a step. */
export interface PipelineJob<Config extends TObject = TObject> {
  /** What a step names, e.g. `transcript_import`. */
  readonly name: string;
  readonly summary: string;
  /** Job enqueued when a conversation enters the step: `<service>.<job>`; that service works it. */
  readonly jobType: string;
  /** Retries, time and concurrency of that job; what is not named is the job library's default. */
  readonly policy?: Partial<JobPolicy>;
  /** Starts again when the transcript window becomes complete after the step was entered (D7a). */
  readonly restartOnWindowComplete?: boolean;
  /** Waits for the meeting provider: what waits for its next attempt is run at once when the provider reports something of the meeting. */
  readonly waitsForProvider?: boolean;
  /** Model of the step's configuration; unknown keys are refused. Every property carries its default or is optional. */
  readonly config: Config;
  /** Access by top-level key, fail-closed: a key without one is neither returned nor accepted. */
  readonly fields: Readonly<Record<string, FieldAccess>>;
}

/** Registered pipeline jobs by name. */
export type PipelineRegistry = ReadonlyMap<string, PipelineJob>;

export const PipelinePayload = Type.Object({
  conversation_id: Type.Integer({ description: 'Id of the conversation.' }),
  step_id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Step whose entry started the job, and whose configuration holds; null when it was started otherwise.',
  }),
  cause: Type.String({ description: 'What started it: `step_entered`, `window_completed`, `command`, …' }),
});
/** Payload of every pipeline job. */
export type PipelinePayload = Static<typeof PipelinePayload>;

/** Setting that every pipeline job has in common (D6). */
export const advanceOnSuccess = Type.Boolean({
  default: false,
  description: 'Move the conversation to the next step when the job has succeeded and this step is still the current one.',
});

const jobsByDeclaration = new WeakMap<PipelineJob, Job<typeof PipelinePayload>>();

/** The job that a declaration stands for; the same value each time. */
export function jobOf(declaration: PipelineJob): Job<typeof PipelinePayload> {
  const { jobType: type, summary, policy } = declaration;
  const found =
    jobsByDeclaration.get(declaration) ??
    job({ type, summary, startedBy: ['conversations'], payload: PipelinePayload, ...(policy === undefined ? {} : { policy }) });
  jobsByDeclaration.set(declaration, found);
  return found;
}

/** Jobs of the registry that a service works, by their types: for its contract. */
export function jobsOf(service: string, registry: PipelineRegistry): Record<string, Job<typeof PipelinePayload>> {
  const own = [...registry.values()].filter(({ jobType }) => jobType.startsWith(`${service}.`));
  return Object.fromEntries(own.map((item) => [item.jobType, jobOf(item)]));
}

/**
 * Recordings, transcripts, audio and texts come late, and the provider keeps its own for seven days: first after 15 s, then less and
 * less often up to every 15 minutes, and dead when the seven days are over (D7a). A declaration adds its time and concurrency.
 */
export const waitingPolicy = Object.freeze({
  maxAttempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 15_000,
  maxDelayMs: 900_000,
  expiresAfterMs: 7 * 24 * 3_600_000,
} satisfies Partial<JobPolicy>);
