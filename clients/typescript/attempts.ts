/** Repeating a call where that changes nothing, and giving an attempt up after its time. */
import { ApiConnectionError, ApiError, ApiTimeoutError } from './errors.ts';

/** How often and how soon a call is repeated. */
export interface RetryOptions {
  /** Attempts in all, the first included; 1 = no repetition. Default 3. */
  readonly attempts?: number;
  /** Wait before the second attempt; it doubles each time, with jitter. Default 250. */
  readonly firstDelayMs?: number;
  /** Longest wait, a `Retry-After` of the server included: a longer one ends the call. Default 30 000. */
  readonly maxDelayMs?: number;
}

/** What may be done with a call of an operation when it has failed. */
export interface Repeatability {
  /** Sending it twice does what sending it once does: a read, or a write under an `Idempotency-Key`. */
  readonly isSafe: boolean;
  /** Its body can be sent again; a stream cannot. */
  readonly isReplayable: boolean;
}

const longestDelayMs = 30_000;

/** Answers after which the same request may succeed, and which do not say whether it was worked on. */
const passingStatuses = new Set([408, 500, 502, 503, 504]);

/**
 * Runs `attempt` until it succeeds, may not be repeated, or the attempts are used up.
 * @throws what the last attempt threw; the reason of `signal` when the caller gives up
 */
export async function repeat<Reply>(
  attempt: () => Promise<Reply>,
  call: Repeatability,
  { attempts = 3, ...waits }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (number >= attempts || !mayRepeat(error, call)) throw error;
      const requestedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      if (!(requestedMs <= (waits.maxDelayMs ?? longestDelayMs))) throw error;
      await sleep(Math.max(backoff(number, waits), requestedMs), signal);
    }
  }
}

/** The wait after so many failures. */
export function backoff(failures: number, { firstDelayMs = 250, maxDelayMs = longestDelayMs }: RetryOptions = {}): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

/** 429, and 409 that calls itself retryable, were refused before anything was done. */
function mayRepeat(error: unknown, { isSafe, isReplayable }: Repeatability): boolean {
  if (!isReplayable) return false;
  if (error instanceof ApiConnectionError) return isSafe;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429) return true;
  if (error.status === 409) return (error.body as { retryable?: unknown } | null)?.retryable === true;
  return isSafe && passingStatuses.has(error.status);
}

/** Timers hold no longer wait: one that is told to would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** @throws the reason of `signal` */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, Math.min(ms, longestTimerMs));
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Runs one attempt under its own time and the caller's signal.
 * @throws ApiTimeoutError, ApiConnectionError; the reason of `signal`; ApiError as it comes
 */
export async function withTimeout<Reply>(
  operation: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  attempt: (signal: AbortSignal) => Promise<Reply>,
): Promise<Reply> {
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(new ApiTimeoutError(operation, timeoutMs)), timeoutMs);
  try {
    // A body that is read as a stream still ends with the caller's signal, but not with the timer.
    return await attempt(signal === undefined ? timer.signal : AbortSignal.any([signal, timer.signal]));
  } catch (error) {
    signal?.throwIfAborted();
    timer.signal.throwIfAborted();
    throw error instanceof ApiError ? error : new ApiConnectionError(operation, 'no answer', { cause: error });
  } finally {
    clearTimeout(timeout);
  }
}
