/** Objects in any S3-compatible store. Uploads and downloads are streamed in constant memory (architecture#bytes). */
import type { Readable } from 'node:stream';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { createBufferPool } from './buffers.ts';
import { ensureBucket, ensureLifecycle, checkBucket } from './bucket.ts';
import {
  asUnavailable,
  createClient,
  ignoreMissing,
  isMissing,
  quickRetry,
  withRetry,
  type ObjectStoreConfig,
} from './client.ts';
import { putStream, resumeStream, type PutOptions, type ResumeOptions, type StoredObject } from './put-stream.ts';
import { deleteObject, listUnfinished, removeUpload } from './remove-upload.ts';
import { findUnfinished, type UnfinishedUpload } from './unfinished.ts';

export { erasuresPrefix, lastBackupKey, platformPrefix } from './platform-keys.ts';
export { type ObjectStoreConfig, storeConfigOf } from './client.ts';
export type { PutOptions, ResumeOptions, StoredObject } from './put-stream.ts';
export type { UnfinishedUpload } from './unfinished.ts';

/** Bytes `first` to `last`, both inclusive, zero-based. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface OpenObject {
  /**
   * Content of the object. Destroy it to stop reading from the store. It fails when the store interrupts the transfer.
   */
  body: Readable;
  /** Size of the body in bytes. */
  sizeBytes: number;
}

export interface ObjectInfo {
  key: string;
  sizeBytes: number;
  /** Time of the last change by the store's clock. */
  modifiedAt: Date;
}

/**
 * Access to the objects of one bucket. Every method throws AppError `unavailable` when the store is unavailable, slow
 * or denies access; for a missing object, `get` and `head` return undefined.
 */
export interface ObjectStore {
  /**
   * Stores `body` under the new key `key` with back-pressure. After a failure neither object nor parts remain, if the
   * store can be reached.
   * @throws the error of the body; the signal's reason.
   */
  putStream(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /**
   * Stores `body` as `putStream` does, but continues after the parts that an earlier attempt stored under this key.
   * After a failure the complete parts remain for the next attempt. A caller that does not try again must call
   * `removeUpload`.
   * @returns the size of the whole object in bytes.
   */
  resumeStream(key: string, body: AsyncIterable<Uint8Array>, options: ResumeOptions): Promise<number>;
  /**
   * Returns what an interrupted attempt has stored under exactly this key. The body of the next attempt must start at
   * its `sizeBytes`.
   */
  findUnfinished(key: string): Promise<UnfinishedUpload | undefined>;
  /** Opens an object, or a byte range of it. */
  get(key: string, options?: { range?: ByteRange; signal?: AbortSignal }): Promise<OpenObject | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /** Deletes an object. Succeeds if the object does not exist. */
  delete(key: string): Promise<void>;
  /**
   * Lists the objects whose key starts with `prefix` and sorts after `after`, page by page, in byte order of the keys.
   */
  list(prefix: string, after?: string): AsyncIterable<ObjectInfo>;
  /** Removes what an abandoned upload of exactly this key may have left: incomplete parts and the object. */
  removeUpload(key: string): Promise<void>;
  /** Returns the number of uploads of exactly this key that were started, but neither completed nor aborted. */
  countUnfinished(key: string): Promise<number>;
  /** Creates the bucket if it is missing, and its rule for incomplete uploads if the store supports such rules. */
  ensureBucket(): Promise<{ lifecycle: boolean }>;
  /** Checks with one attempt that the bucket can be reached. @throws AppError `unavailable` */
  ping(): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/** Minimum part size that S3 allows. */
export const minPartBytes = 5 * 1024 * 1024;

export interface ObjectStoreOptions {
  /** Part and buffer size in bytes, at least {@link minPartBytes}; default 5 MiB. */
  partBytes?: number;
  /** Maximum number of buffers for all uploads together; an upload uses at most two. Default 32. */
  maxBuffers?: number;
  /** Registry for metrics of rate, errors and duration by operation. */
  metrics?: Metrics;
}

/** Creates an object store for the bucket of `config`; connects on first use. */
export function createObjectStore(config: ObjectStoreConfig, options: ObjectStoreOptions = {}): ObjectStore {
  const { partBytes = minPartBytes, maxBuffers = 32 } = options;
  if (partBytes < minPartBytes) throw new RangeError(`partBytes must be at least ${minPartBytes}`);
  const client = createClient(
    config,
    options.metrics?.red('object_store_requests', 'Requests to the object store', ['operation']),
  );
  const { bucket } = config;
  const pool = createBufferPool({ bufferBytes: partBytes, capacity: maxBuffers });

  return {
    putStream: (key, body, putOptions) => putStream({ client, bucket, pool }, key, body, putOptions),
    resumeStream: (key, body, resumeOptions) => resumeStream({ client, bucket, pool }, key, body, resumeOptions),
    findUnfinished: (key) => findUnfinished(client, bucket, key, partBytes),
    get: (key, { range, signal } = {}) => findObject(client, bucket, key, range, signal),
    head: (key) => headObject(client, bucket, key),
    delete: (key) => deleteObject(client, bucket, key),
    list: (prefix, after) => listObjects(client, bucket, prefix, after),
    removeUpload: (key) => removeUpload(client, bucket, key),
    countUnfinished: async (key) => (await listUnfinished(client, bucket, key)).length,
    ensureBucket: async () => {
      await ensureBucket(client, bucket);
      return { lifecycle: await ensureLifecycle(client, bucket) };
    },
    ping: async () => {
      await withRetry(() => checkBucket(client, bucket), { delaysMs: [] }).catch((error: unknown) => {
        throw isMissing(error) ? asUnavailable(error) : error;
      });
    },
    close: () => client.destroy(),
  };
}

async function findObject(
  client: S3Client,
  bucket: string,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal | undefined,
): Promise<OpenObject | undefined> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(range === undefined ? {} : { Range: `bytes=${range.first}-${range.last}` }),
  });
  const reply = await ignoreMissing(
    withRetry(() => client.send(command, signal === undefined ? {} : { abortSignal: signal }), quickRetry, signal),
  );
  if (reply === undefined) return undefined;
  return { body: reply.Body as Readable, sizeBytes: reply.ContentLength ?? 0 };
}

async function headObject(client: S3Client, bucket: string, key: string): Promise<ObjectInfo | undefined> {
  const reply = await ignoreMissing(
    withRetry(() => client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })), quickRetry),
  );
  return reply === undefined
    ? undefined
    : { key, sizeBytes: reply.ContentLength ?? 0, modifiedAt: reply.LastModified ?? new Date(0) };
}

async function* listObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
  after: string | undefined,
): AsyncIterable<ObjectInfo> {
  let token: string | undefined;
  do {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      ...(after === undefined ? {} : { StartAfter: after }),
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
    const page = await withRetry(() => client.send(command), quickRetry);
    for (const item of page.Contents ?? [])
      yield { key: item.Key as string, sizeBytes: item.Size ?? 0, modifiedAt: item.LastModified ?? new Date() };
    token = page.NextContinuationToken;
  } while (token !== undefined);
}
