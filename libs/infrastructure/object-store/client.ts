/** The S3 client with explicit timeouts, retries, and the mapping of its errors to platform errors. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client, type S3ClientConfig, S3ServiceException, type ServerSideEncryption } from '@aws-sdk/client-s3';
import { ConfigError, type ConfigOf, type s3Settings } from '#libs/infrastructure/config';
import { unavailable } from '#libs/infrastructure/errors';
import { findTracer, errorTypeOf, type Red, serverAttributes } from '#libs/infrastructure/telemetry';

export interface ObjectStoreConfig {
  /** `http(s)://host[:port]`. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Absent: the SDK's default credentials (IRSA, Pod Identity, instance role). */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  sessionToken?: string | undefined;
  /** File with the session token, as an alternative to `sessionToken`. */
  sessionTokenFile?: string | undefined;
  forcePathStyle: boolean;
  /** Server-side encryption of stored objects. Absent: the default of the bucket. */
  encryption?: ServerSideEncryption | undefined;
  kmsKeyId?: string | undefined;
}

/**
 * Returns the store configuration for the settings of the process (libs/infrastructure/config). @throws ConfigError when settings
 * contradict each other
 */
export function storeConfigOf(settings: ConfigOf<typeof s3Settings>): ObjectStoreConfig {
  const {
    S3_ACCESS_KEY_ID: id,
    S3_SECRET_ACCESS_KEY: key,
    S3_SESSION_TOKEN: token,
    S3_SESSION_TOKEN_FILE: file,
  } = settings;
  const problems = [
    ...((id === undefined) === (key === undefined)
      ? []
      : ['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: set both, or neither']),
    ...(token === undefined || file === undefined
      ? []
      : ['S3_SESSION_TOKEN and S3_SESSION_TOKEN_FILE: set one of them']),
    ...(id !== undefined || (token ?? file) === undefined
      ? []
      : ['S3_SESSION_TOKEN belongs to S3_ACCESS_KEY_ID, which is not set']),
    ...(settings.S3_SSE_KMS_KEY_ID === undefined || settings.S3_SSE?.startsWith('aws:kms') === true
      ? []
      : ['S3_SSE_KMS_KEY_ID needs S3_SSE=aws:kms']),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    bucket: settings.S3_BUCKET,
    accessKeyId: id,
    secretAccessKey: key,
    sessionToken: token,
    sessionTokenFile: file,
    encryption: settings.S3_SSE,
    kmsKeyId: settings.S3_SSE_KMS_KEY_ID,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
  };
}

/** Time limit for establishing a connection. */
const connectTimeoutMs = 3_000;
/** Time until the response starts, including sending one part. */
const responseTimeoutMs = 60_000;
/** Time without a byte in either direction; also applies to downloads with a slow reader. */
const idleTimeoutMs = 120_000;

/** Delays between attempts. The number of attempts is one more than the number of delays. */
export interface RetryPolicy {
  readonly delaysMs: readonly number[];
}
/** Policy for calls that a client waits for: three attempts within half a second. */
export const quickRetry: RetryPolicy = { delaysMs: [100, 300] };
/** Policy for parts, completion and clean-up. It is long enough for a restart of the store. */
export const patientRetry: RetryPolicy = { delaysMs: [200, 500, 1_000, 2_000, 4_000] };

/** Time until a session token is read again, in milliseconds. */
const tokenMs = 300_000;

/** Returns the credentials for the client. Without keys the result is empty, and the SDK finds credentials itself. */
function describeCredentials(config: ObjectStoreConfig): Pick<S3ClientConfig, 'credentials'> {
  const { accessKeyId, secretAccessKey, sessionToken, sessionTokenFile: file } = config;
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  const keys = { accessKeyId, secretAccessKey };
  if (file === undefined) return { credentials: { ...keys, ...(sessionToken === undefined ? {} : { sessionToken }) } };
  return {
    credentials: async () => ({
      ...keys,
      sessionToken: (await readFile(file, 'utf8')).trim(),
      expiration: new Date(Date.now() + tokenMs),
    }),
  };
}

/** Commands that create an object. */
const storing = new Set(['PutObjectCommand', 'CreateMultipartUploadCommand']);

/** Creates the S3 client. @param requests metrics for rate, errors and duration by operation */
export function createClient(config: ObjectStoreConfig, requests?: Red): S3Client {
  const client = new S3Client({
    endpoint: config.endpoint,
    region: config.region,
    ...describeCredentials(config),
    forcePathStyle: config.forcePathStyle,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The client does not retry: `withRetry` decides in one place what is retried and for how long.
    maxAttempts: 1,
    // With this header the client would open a new connection for every part.
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
  const described = {
    'rpc.system.name': 'aws-api',
    'cloud.region': config.region,
    ...serverAttributes(new URL(config.endpoint)),
  };
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (input) => {
        if (config.encryption !== undefined && storing.has(commandName ?? '')) {
          Object.assign(input.input, {
            ServerSideEncryption: config.encryption,
            ...(config.kmsKeyId === undefined ? {} : { SSEKMSKeyId: config.kmsKeyId }),
          });
        }
        const operation = commandName?.replace(/Command$/, '') ?? 'unknown';
        const startedMs = performance.now();
        const { Bucket: bucket } = input.input as { readonly Bucket?: string };
        const span = findTracer()?.startChild(`s3 ${operation}`, 'client', {
          ...described,
          'rpc.method': `S3/${operation}`,
          ...(bucket === undefined ? {} : { 'aws.s3.bucket': bucket }),
        });
        let failure: { name: string; outcome: string } | undefined;
        try {
          return await next(input);
        } catch (error) {
          notePosition(error, config, input.input as { readonly Bucket?: string });
          failure = {
            name: error instanceof S3ServiceException ? error.name : errorTypeOf(error),
            outcome: readOutcome(error),
          };
          throw error;
        } finally {
          requests?.observe(
            { operation },
            failure?.outcome ?? 'ok',
            (performance.now() - startedMs) / 1000,
            span?.traceparent,
          );
          span?.end({ error: failure?.name });
        }
      },
    { step: 'initialize', name: 'coherenceSignals' },
  );
  return client;
}

const missingNames = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload', 'NoSuchLifecycleConfiguration']);

/** Returns the metric outcome of a failed call. `missing` and `unsupported` are responses of a healthy store. */
function readOutcome(error: unknown): 'missing' | 'unsupported' | 'failed' {
  if (isMissing(error)) return 'missing';
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501 ? 'unsupported' : 'failed';
}

/**
 * Repeats `attempt` after transient failures.
 * @throws the signal's reason when the signal aborts; AppError `unavailable` after the last attempt
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

/** Returns true when the error means that the object, upload or bucket does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && missingNames.has(error.name);
}

/** Returns true when the error means that the credentials do not permit the call. */
export function isRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403;
}

/** Returns the result of the call, or undefined when the object, upload or bucket does not exist. */
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

/** Returns whether the error is a network error. Errors of the client have `$metadata`; Node's errors have a code. */
function isNetworkError(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null) return false;
  return (
    '$metadata' in error ||
    typeof (error as NodeJS.ErrnoException).code === 'string' ||
    (error as Error).name === 'TimeoutError'
  );
}

/** Bucket and endpoint of each failed call, for error messages. */
const positions = new WeakMap<object, string>();

function notePosition(
  error: unknown,
  { endpoint, bucket }: ObjectStoreConfig,
  input: { readonly Bucket?: string },
): void {
  if (typeof error === 'object' && error !== null)
    positions.set(error, `bucket ${input.Bucket ?? bucket} at ${endpoint}`);
}

/**
 * Describes denied access, e.g. `credentials refused (403) for bucket coherence at https://s3.example.org:
 * AccessDenied`.
 */
function describeRefusal(error: Error): string {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  const code = (error as NodeJS.ErrnoException).code ?? error.name;
  const named = /^\d+$|^Unknown/.test(code) ? undefined : code;
  const where = `for ${positions.get(error) ?? 'an unknown bucket'}`;
  if (status === 401 || status === 403)
    return `credentials refused (${status}) ${where}${named === undefined ? '' : `: ${named}`}`;
  return `${named ?? 'answer'}${status === undefined ? '' : ` (${status})`} ${where}`;
}

/**
 * Converts store and network errors to `unavailable`; returns other errors unchanged. The cause has only code, status,
 * bucket and endpoint, because messages of the store may contain access keys and object keys.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof S3ServiceException) && !isNetworkError(error)) return error;
  return unavailable('Object store unavailable', { cause: new Error(`S3: ${describeRefusal(error)}`) });
}
