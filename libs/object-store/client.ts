/** The S3 client with explicit timeouts, its retries, and the mapping of its errors to the platform's. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client, type S3ClientConfig, S3ServiceException, type ServerSideEncryption } from '@aws-sdk/client-s3';
import { ConfigError, type ConfigOf, type s3Settings } from '#libs/config';
import { unavailable } from '#libs/errors';
import { findTracer, errorTypeOf, type Red, serverAttributes } from '#libs/telemetry';

export interface ObjectStoreConfig {
  /** `http(s)://host[:port]`. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Absent = what the SDK finds (IRSA, Pod Identity, the role of the instance). */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  sessionToken?: string | undefined;
  /** File with the session token, in its place. */
  sessionTokenFile?: string | undefined;
  forcePathStyle: boolean;
  /** Encryption at rest of what is stored; absent = as the bucket says. */
  encryption?: ServerSideEncryption | undefined;
  kmsKeyId?: string | undefined;
}

/** What the settings of a process say (libs/config). @throws ConfigError when they contradict each other */
export function storeConfigOf(settings: ConfigOf<typeof s3Settings>): ObjectStoreConfig {
  const { S3_ACCESS_KEY_ID: id, S3_SECRET_ACCESS_KEY: key, S3_SESSION_TOKEN: token, S3_SESSION_TOKEN_FILE: file } = settings;
  const problems = [
    ...((id === undefined) === (key === undefined) ? [] : ['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: set both, or neither']),
    ...(token === undefined || file === undefined ? [] : ['S3_SESSION_TOKEN and S3_SESSION_TOKEN_FILE: set one of them']),
    ...(id !== undefined || (token ?? file) === undefined ? [] : ['S3_SESSION_TOKEN belongs to S3_ACCESS_KEY_ID, which is not set']),
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

/** Time after which a session token is read again. */
const tokenMs = 300_000;

/** Nothing without keys: the SDK looks for them then. */
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

/** Commands that begin an object. */
const storing = new Set(['PutObjectCommand', 'CreateMultipartUploadCommand']);

/** @param requests rate, errors and duration by operation */
export function createClient(config: ObjectStoreConfig, requests?: Red): S3Client {
  const client = new S3Client({
    endpoint: config.endpoint,
    region: config.region,
    ...describeCredentials(config),
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
  const described = { 'rpc.system.name': 'aws-api', 'cloud.region': config.region, ...serverAttributes(new URL(config.endpoint)) };
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
          failure = { name: error instanceof S3ServiceException ? error.name : errorTypeOf(error), outcome: readOutcome(error) };
          throw error;
        } finally {
          requests?.observe({ operation }, failure?.outcome ?? 'ok', (performance.now() - startedMs) / 1000, span?.traceparent);
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

/** True when the credentials may not do what a call asks for. */
export function isRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403;
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
const positions = new WeakMap<object, string>();

function notePosition(error: unknown, { endpoint, bucket }: ObjectStoreConfig, input: { readonly Bucket?: string }): void {
  if (typeof error === 'object' && error !== null) positions.set(error, `bucket ${input.Bucket ?? bucket} at ${endpoint}`);
}

/** E.g. `credentials refused (403) for bucket coherence at https://s3.example.org: AccessDenied`. */
function describeRefusal(error: Error): string {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  const code = (error as NodeJS.ErrnoException).code ?? error.name;
  const named = /^\d+$|^Unknown/.test(code) ? undefined : code;
  const where = `for ${positions.get(error) ?? 'an unknown bucket'}`;
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
