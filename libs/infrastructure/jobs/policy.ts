/** Rules for the state of a job after an attempt, as functions without IO. */
import type { Job, JobPolicy } from '#libs/infrastructure/contract';
import { describeError, LeaseLost, PermanentJobError, RetryLater, WorkerStopping } from './errors.ts';

/** Outcome of an attempt: the label `outcome` of the metrics. */
export type Outcome = 'succeeded' | 'retried' | 'postponed' | 'dead' | 'given_back' | 'lost';

/** What to write after an unsuccessful attempt. */
export interface AttemptDecision {
  readonly outcome: Exclude<Outcome, 'succeeded'>;
  readonly dead: boolean;
  readonly delayMs: number;
  /** Error to store; null preserves the error of the previous attempt. */
  readonly error: string | null;
  /** Whether the attempt counts towards the maximum. */
  readonly counts: boolean;
}

/** Returns the maximum number of attempts as a PostgreSQL integer. */
export function maxAttempts(policy: JobPolicy): number {
  return Number.isFinite(policy.maxAttempts) ? policy.maxAttempts : 2 ** 31 - 1;
}

/**
 * Returns the delay before the next attempt in milliseconds. It doubles with each failure up to the policy's maximum.
 * Jitter over the upper half of the delay prevents jobs that failed together from being retried together.
 */
export function backoffMs(policy: JobPolicy, failures: number, random: () => number = Math.random): number {
  const full = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.round(full / 2 + (random() * full) / 2);
}

/**
 * Returns what follows from the error of an attempt. `attempt` counts from 1; `requeued` is the number of times that
 * the job was queued again before.
 */
export function decideOutcome(
  error: unknown,
  policy: JobPolicy,
  { attempt, requeued }: { attempt: number; requeued: number },
): AttemptDecision {
  if (error instanceof LeaseLost) return { outcome: 'lost', dead: false, delayMs: 0, error: null, counts: true };
  if (error instanceof WorkerStopping)
    return { outcome: 'given_back', dead: false, delayMs: 0, error: null, counts: false };
  const text = describeError(error);
  if (error instanceof PermanentJobError) return { outcome: 'dead', dead: true, delayMs: 0, error: text, counts: true };
  if (error instanceof RetryLater) {
    const delayMs = error.delayMs ?? backoffMs(policy, requeued + 1);
    return { outcome: 'postponed', dead: false, delayMs: Math.max(0, delayMs), error: text, counts: false };
  }
  if (attempt >= maxAttempts(policy)) return { outcome: 'dead', dead: true, delayMs: 0, error: text, counts: true };
  return { outcome: 'retried', dead: false, delayMs: backoffMs(policy, attempt), error: text, counts: true };
}

/** Policies of job types, one array per column. */
export interface PolicyColumns {
  readonly types: readonly string[];
  readonly maxAttempts: readonly number[];
  readonly firstDelays: readonly number[];
  readonly longestDelays: readonly number[];
}

/** Returns maximum attempts, first delay and longest delay by type, for the sweeper. */
export function policyColumns(declarations: readonly Job[]): PolicyColumns {
  return {
    types: declarations.map(({ type }) => type),
    maxAttempts: declarations.map(({ policy }) => maxAttempts(policy)),
    firstDelays: declarations.map(({ policy }) => policy.firstDelayMs),
    longestDelays: declarations.map(({ policy }) => policy.maxDelayMs),
  };
}
