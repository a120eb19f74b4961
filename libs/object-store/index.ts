/** Objects in any S3-compatible store, streamed both ways in constant memory (architecture#bytes). */
import type { Readable } from 'node:stream';
import type { Metrics } from '#libs/telemetry';
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
  /** Destroy it to stop reading from the store; it fails when the store interrupts the transfer. */
  body: Readable;
  /** Size of the body in bytes. */
  sizeBytes: number;
}

export interface ObjectInfo {
  key: string;
  sizeBytes: number;
  /** Time from the store's clock. */
  modifiedAt: Date;
}

/**
 * Every call fails with AppError `unavailable` when the store is unavailable, slow or denies access; a missing object
 * is undefined.
 */
export interface ObjectStore {
  /**
   * Stores `body` with back-pressure. After a failure neither object nor parts remain, as far as the store can be
   * reached. `key` must be new.
   * @throws the error of the body; the signal's reason.
   */
  putStream(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /**
   * As `putStream`, but continues after the parts of an earlier attempt under this key; a failure leaves complete parts
   * for the next attempt. Callers that give up must call `removeUpload`.
   * @returns the size of the whole object in bytes.
   */
  resumeStream(key: string, body: AsyncIterable<Uint8Array>, options: ResumeOptions): Promise<number>;
  /** What an interrupted attempt has stored under exactly this key; the body must continue at its `sizeBytes`. */
  findUnfinished(key: string): Promise<UnfinishedUpload | undefined>;
  /** Opens an object, or a byte range of it. */
  get(key: string, options?: { range?: ByteRange; signal?: AbortSignal }): Promise<OpenObject | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /** Deletes an object; a missing object is not an error. */
  delete(key: string): Promise<void>;
  /** Objects whose key starts with `prefix` and sorts after `after`, in byte order of the keys, page by page. */
  list(prefix: string, after?: string): AsyncIterable<ObjectInfo>;
  /** Removes what an abandoned upload of exactly this key may have left: incomplete parts and the object. */
  removeUpload(key: string): Promise<void>;
  /** Number of uploads of exactly this key that were started but neither completed nor aborted. */
  countUnfinished(key: string): Promise<number>;
  /** Creates the bucket if it is missing, and its rule for incomplete uploads if the store supports it. */
  ensureBucket(): Promise<{ lifecycle: boolean }>;
  /** @throws AppError `unavailable` when the bucket cannot be reached. One attempt. */
  ping(): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/** Minimum part size that S3 allows. */
export const minPartBytes = 5 * 1024 * 1024;

export interface ObjectStoreOptions {
  /** Part and buffer size in bytes, at least {@link minPartBytes}; default 5 MiB. */
  partBytes?: number;
  /** Buffers of all uploads together; an upload uses at most two. Default 32. */
  maxBuffers?: number;
  /** Receives rate, errors and duration by operation. */
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
