/** Retries calls and limits their time. */
import { ApiConnectionError, ApiError, ApiTimeoutError } from './errors.ts';

/** Retry policy. */
export interface RetryOptions {
  /** Number of attempts including the first; 1 = no retries. Default 3. */
  readonly attempts?: number;
  /** Delay before the second attempt in ms; doubles each time, with jitter. Default 250. */
  readonly firstDelayMs?: number;
  /** Maximum delay in ms. The call fails when the server's `Retry-After` is longer. Default 30 000. */
  readonly maxDelayMs?: number;
}

/** Properties of a call that determine whether it can be retried after a failure. */
export interface Repeatability {
  /** Reads, and writes with an `Idempotency-Key`. */
  readonly isSafe: boolean;
  /** False when the body is a stream, which can be sent only once. */
  readonly isReplayable: boolean;
}

const longestDelayMs = 30_000;

/** Statuses after which a retry can succeed, although the failed request may have taken effect. */
const passingStatuses = new Set([408, 500, 502, 503, 504]);

/**
 * Runs `attempt` until it succeeds, cannot be retried, or the maximum number of attempts is reached.
 * @throws the error of the last attempt; the reason of `signal` when the caller aborts
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

/** Returns the delay in ms after this number of failures. */
export function backoff(failures: number, { firstDelayMs = 250, maxDelayMs = longestDelayMs }: RetryOptions = {}): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

/**
 * With status 429 and with a retryable 409, the server rejected the request before it took effect, so writes without a
 * key can be retried too.
 */
function mayRepeat(error: unknown, { isSafe, isReplayable }: Repeatability): boolean {
  if (!isReplayable) return false;
  if (error instanceof ApiConnectionError) return isSafe;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429) return true;
  if (error.status === 409) return (error.body as { retryable?: unknown } | null)?.retryable === true;
  return isSafe && passingStatuses.has(error.status);
}

/** Maximum of `setTimeout`: longer delays would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Waits for `ms` milliseconds. @throws the reason of `signal` when it aborts */
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
 * Runs one attempt with a timeout and the caller's signal.
 * @throws ApiTimeoutError, ApiConnectionError, ApiError; the reason of `signal` when it aborts
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
    // The signal also aborts a streamed body that is read later, while the timeout ends with the attempt.
    return await attempt(signal === undefined ? timer.signal : AbortSignal.any([signal, timer.signal]));
  } catch (error) {
    signal?.throwIfAborted();
    timer.signal.throwIfAborted();
    throw error instanceof ApiError ? error : new ApiConnectionError(operation, 'no response', { cause: error });
  } finally {
    clearTimeout(timeout);
  }
}
