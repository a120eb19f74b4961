/** The S3 client with explicit timeouts, its retries, and the mapping of its errors to the platform's. */
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { ConfigOf, s3Settings } from '#libs/config';
import { unavailable } from '#libs/errors';
import { findTracer, nameFailure, type Red } from '#libs/telemetry';

export interface ObjectStoreConfig {
  /** `http(s)://host[:port]`. */
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
}

/** What the settings of a process say (libs/config). */
export function storeConfigOf(settings: ConfigOf<typeof s3Settings>): ObjectStoreConfig {
  return {
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    bucket: settings.S3_BUCKET,
    accessKeyId: settings.S3_ACCESS_KEY_ID,
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
  };
}

/** Time for a connection to be made. */
const connectTimeoutMs = 3_000;
/** Time until the response begins, the sending of one part included. */
const responseTimeoutMs = 60_000;
/** Time without a byte in either direction, on a download whose reader is slow too. */
const idleTimeoutMs = 120_000;

/** Waits between attempts; one more attempt than waits. */
export interface RetryPolicy {
  readonly delaysMs: readonly number[];
}
/** For calls that a client waits for: three attempts within half a second of waiting. */
export const quickRetry: RetryPolicy = { delaysMs: [100, 300] };
/** For parts, completion and clean-up: survives a restart of the store. */
export const patientRetry: RetryPolicy = { delaysMs: [200, 500, 1_000, 2_000, 4_000] };

/** @param requests rate, errors and duration by operation */
export function createClient(config: ObjectStoreConfig, requests?: Red): S3Client {
  const client = new S3Client({
    endpoint: config.endpoint,
    region: config.region,
    credentials: { accessKeyId: config.accessKeyId, secretAccessKey: config.secretAccessKey },
    forcePathStyle: config.forcePathStyle,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // One attempt in the client: `withRetry` decides, in one place, what is tried again and for how long.
    maxAttempts: 1,
    // With it the client opens a new connection for every part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      requestTimeout: responseTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: idleTimeoutMs,
      httpAgent: { keepAlive: true, maxSockets: 200 },
      httpsAgent: { keepAlive: true, maxSockets: 200 },
    },
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (input) => {
        const operation = commandName?.replace(/Command$/, '') ?? 'unknown';
        const startedMs = performance.now();
        const span = findTracer()?.startChild(`s3 ${operation}`, 'client', { 'rpc.system': 'aws-api', 'rpc.method': operation });
        let failure: { name: string; outcome: string } | undefined;
        try {
          return await next(input);
        } catch (error) {
          notePlace(error, config, input.input as { readonly Bucket?: string });
          failure = { name: error instanceof S3ServiceException ? error.name : nameFailure(error), outcome: readOutcome(error) };
          throw error;
        } finally {
          requests?.observe({ operation }, failure?.outcome ?? 'ok', (performance.now() - startedMs) / 1000);
          span?.end({ error: failure?.name });
        }
      },
    { step: 'initialize', name: 'coherenceSignals' },
  );
  return client;
}

const missingNames = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload', 'NoSuchLifecycleConfiguration']);

/** What a call that threw counts as: `missing` and `unsupported` are answers of a store that is well. */
function readOutcome(error: unknown): 'missing' | 'unsupported' | 'failed' {
  if (isMissing(error)) return 'missing';
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501 ? 'unsupported' : 'failed';
}

/**
 * Runs `attempt` again after transient failures.
 * @throws the signal's reason once it has aborted; AppError `unavailable` when the store does not do it.
 */
export async function withRetry<T>(attempt: () => Promise<T>, policy: RetryPolicy, signal?: AbortSignal): Promise<T> {
  for (let count = 0; ; count += 1) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const delayMs = policy.delaysMs[count];
      if (delayMs === undefined || !isTransient(error)) throw isMissing(error) ? error : asUnavailable(error);
      await sleep(delayMs * (0.75 + Math.random() / 2), undefined, signal === undefined ? {} : { signal }).catch(() =>
        signal?.throwIfAborted(),
      );
    }
  }
}

/** True when the object, upload or bucket that a call names is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && missingNames.has(error.name);
}

/** What the call gives, or undefined when what it names is not there. */
export async function ignoreMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof S3ServiceException) {
    const status = error.$metadata.httpStatusCode ?? 500;
    return status >= 500 || status === 429 || status === 408 || error.name === 'RequestTimeout';
  }
  return isNetworkError(error);
}

/** The client marks whatever goes through it with `$metadata`; Node's own errors have a code. */
function isNetworkError(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null) return false;
  return '$metadata' in error || typeof (error as NodeJS.ErrnoException).code === 'string' || (error as Error).name === 'TimeoutError';
}

/** Where a call went that failed. */
const places = new WeakMap<object, string>();

function notePlace(error: unknown, { endpoint, bucket }: ObjectStoreConfig, input: { readonly Bucket?: string }): void {
  if (typeof error === 'object' && error !== null) places.set(error, `bucket ${input.Bucket ?? bucket} at ${endpoint}`);
}

/** E.g. `credentials refused (403) for bucket coherence at https://s3.example.org: AccessDenied`. */
function describeRefusal(error: Error): string {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  const code = (error as NodeJS.ErrnoException).code ?? error.name;
  const named = /^\d+$|^Unknown/.test(code) ? undefined : code;
  const where = `for ${places.get(error) ?? 'an unknown bucket'}`;
  if (status === 401 || status === 403) return `credentials refused (${status}) ${where}${named === undefined ? '' : `: ${named}`}`;
  return `${named ?? 'answer'}${status === undefined ? '' : ` (${status})`} ${where}`;
}

/**
 * An error of the store or of the way to it as `unavailable`; any other error as it is.
 * Its cause says code, status, bucket and endpoint only: messages of a store may repeat keys of access and of objects.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof S3ServiceException) && !isNetworkError(error)) return error;
  return unavailable('Object store unavailable', { cause: new Error(`S3: ${describeRefusal(error)}`) });
}
