/**
 * Streamed upload in constant memory: bytes are collected in recycled buffers, a small object is put with one request, a
 * larger one in parts while the next buffer fills. Whatever goes wrong, neither an object nor a part stays behind.
 */
import { createHash } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { BufferPool } from './buffers.ts';
import { asUnavailable, isMissing, patientRetry, quickRetry, withRetry } from './client.ts';
import { removeUpload } from './remove-upload.ts';
import type { UnfinishedUpload, UploadedPart } from './unfinished.ts';

export interface PutOptions {
  contentType: string;
  /** Aborting it ends the upload and removes what was sent. */
  signal?: AbortSignal;
}

export interface ResumeOptions extends PutOptions {
  /** What is there already, by `findUnfinished`; the body goes on behind it. */
  unfinished: UnfinishedUpload | undefined;
}

export interface StoredObject {
  sizeBytes: number;
  /** SHA-256 of the bytes, lower-case hex. */
  sha256: string;
}

interface Target {
  readonly client: S3Client;
  readonly bucket: string;
  readonly pool: BufferPool;
}

interface Writer {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly options: PutOptions;
  /** Whole parts that are there already; undefined when the upload begins. */
  readonly unfinished: UnfinishedUpload | undefined;
  /** A failure leaves the parts for a later attempt. */
  readonly keepsParts: boolean;
  /** Ends every request of this upload as soon as one part of it has failed. */
  readonly failure: AbortController;
}

/** Parts that are sent at the same time, per upload. */
const parallelParts = 1;

/**
 * Reads `body` to its end and stores it under `key`. The body is read no faster than the store takes it.
 * @throws whatever the body throws; the signal's reason; AppError `unavailable`.
 */
export async function putStream(target: Target, key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject> {
  return run(target, key, body, options, { unfinished: undefined, keepsParts: false });
}

/**
 * As `putStream`, but a failure leaves the parts that were sent, so that a later call goes on behind them.
 * @returns the size of the whole object.
 */
export async function resumeStream(target: Target, key: string, body: AsyncIterable<Uint8Array>, options: ResumeOptions): Promise<number> {
  const { sizeBytes } = await run(target, key, body, options, { unfinished: options.unfinished, keepsParts: true });
  return sizeBytes;
}

async function run(
  target: Target,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
  way: Pick<Writer, 'unfinished' | 'keepsParts'>,
): Promise<StoredObject> {
  const failure = new AbortController();
  const forward = (): void => failure.abort(options.signal?.reason);
  if (options.signal?.aborted === true) forward();
  options.signal?.addEventListener('abort', forward, { once: true });
  const writer: Writer = { client: target.client, bucket: target.bucket, key, options, ...way, failure };
  try {
    return await write(writer, target.pool, body);
  } finally {
    options.signal?.removeEventListener('abort', forward);
  }
}

async function write(writer: Writer, pool: BufferPool, body: AsyncIterable<Uint8Array>): Promise<StoredObject> {
  const { signal } = writer.failure;
  const hash = createHash('sha256');
  const parts: UploadedPart[] = [...(writer.unfinished?.parts ?? [])];
  const sending = new Set<Promise<void>>();
  let failed: unknown;
  let uploadId = writer.unfinished?.uploadId;
  let sizeBytes = writer.unfinished?.sizeBytes ?? 0;
  let buffer: Buffer | undefined;
  let filled = 0;

  const send = async (full: Buffer, length: number): Promise<void> => {
    const PartNumber = parts.length + 1;
    const part: UploadedPart = { PartNumber, ETag: undefined };
    parts.push(part);
    try {
      part.ETag = await uploadPart(writer, uploadId as string, PartNumber, full.subarray(0, length));
    } catch (error) {
      failed ??= error;
      writer.failure.abort(error);
    } finally {
      pool.release(full);
    }
  };
  const flush = async (): Promise<void> => {
    const full = buffer as Buffer;
    const length = filled;
    buffer = undefined;
    filled = 0;
    // From here on `send` owns the buffer.
    try {
      uploadId ??= await createUpload(writer);
      while (sending.size >= parallelParts) await Promise.race(sending);
      signal.throwIfAborted();
    } catch (error) {
      pool.release(full);
      throw error;
    }
    const sent = send(full, length).finally(() => sending.delete(sent));
    sending.add(sent);
  };

  try {
    for await (const chunk of untilAborted(body, signal)) {
      hash.update(chunk);
      sizeBytes += chunk.byteLength;
      for (let offset = 0; offset < chunk.byteLength;) {
        if (buffer !== undefined && filled === pool.bufferBytes) await flush();
        buffer ??= await pool.acquire(signal);
        const length = Math.min(chunk.byteLength - offset, pool.bufferBytes - filled);
        buffer.set(offset === 0 && length === chunk.byteLength ? chunk : chunk.subarray(offset, offset + length), filled);
        filled += length;
        offset += length;
      }
    }
    signal.throwIfAborted();
    if (uploadId === undefined && sending.size === 0 && parts.length === 0) {
      await putWhole(writer, buffer === undefined ? Buffer.alloc(0) : buffer.subarray(0, filled));
    } else {
      if (filled > 0) await flush();
      await Promise.all(sending);
      signal.throwIfAborted();
      await completeUpload(writer, uploadId as string, parts);
    }
    return { sizeBytes, sha256: hash.digest('hex') };
  } catch (error) {
    // A part on its way is worth waiting for when the next attempt goes on behind it.
    if (!writer.keepsParts) writer.failure.abort(error);
    await Promise.all(sending);
    if (!writer.keepsParts) await removeRemains(writer, uploadId);
    const reason = failed ?? error;
    throw isMissing(reason) ? asUnavailable(reason) : reason;
  } finally {
    if (buffer !== undefined) pool.release(buffer);
  }
}

/** The chunks of `body`; ends with the signal's reason at once, even while `body` keeps us waiting. */
async function* untilAborted(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  let onAbort: () => void = () => undefined;
  const listener = (): void => onAbort();
  signal.addEventListener('abort', listener, { once: true });
  let ended = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        onAbort = () => reject(signal.reason);
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', listener);
    // Not awaited: a body that waits for its own source would answer only then.
    if (!ended) void iterator.return?.().catch(() => undefined);
  }
}

async function putWhole({ client, bucket, key, options, failure: { signal } }: Writer, bytes: Buffer): Promise<void> {
  const command = new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: options.contentType });
  await withRetry(() => client.send(command, { abortSignal: signal }), quickRetry, signal);
}

async function createUpload({ client, bucket, key, options, failure: { signal } }: Writer): Promise<string> {
  const command = new CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ContentType: options.contentType });
  const { UploadId } = await withRetry(() => client.send(command, { abortSignal: signal }), quickRetry, signal);
  return UploadId as string;
}

async function uploadPart(writer: Writer, UploadId: string, PartNumber: number, bytes: Buffer): Promise<string | undefined> {
  const { client, bucket, key } = writer;
  const { signal } = writer.failure;
  const command = new UploadPartCommand({ Bucket: bucket, Key: key, UploadId, PartNumber, Body: bytes });
  const { ETag } = await withRetry(() => client.send(command, { abortSignal: signal }), patientRetry, signal);
  return ETag;
}

async function completeUpload(
  { client, bucket, key, failure: { signal } }: Writer,
  UploadId: string,
  parts: UploadedPart[],
): Promise<void> {
  const command = new CompleteMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId, MultipartUpload: { Parts: parts } });
  try {
    await withRetry(() => client.send(command, { abortSignal: signal }), patientRetry, signal);
  } catch (error) {
    // A completion whose reply was lost is answered with "no such upload" when it is tried again.
    if (!isMissing(error)) throw error;
    await withRetry(() => client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })), quickRetry, signal);
  }
}

async function removeRemains({ client, bucket, key }: Writer, uploadId: string | undefined): Promise<void> {
  try {
    await removeUpload(client, bucket, key, uploadId);
  } catch {
    // The store is away; the failure that brought us here is told, the owner of the key cleans up later.
  }
}
