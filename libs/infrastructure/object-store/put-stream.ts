/**
 * Streamed upload in constant memory. Bytes are collected in reusable buffers. A small object is stored with one
 * request; a larger one is sent in parts while the next buffer fills. After a failure neither object nor parts remain.
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
  /** Aborts the upload, which removes what was sent. */
  signal?: AbortSignal;
}

export interface ResumeOptions extends PutOptions {
  /** Existing parts from `findUnfinished`; the body continues after them. */
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
  /** Complete parts that exist already; undefined for a new upload. */
  readonly unfinished: UnfinishedUpload | undefined;
  /** True when the parts remain after a failure, for a later attempt. */
  readonly retainsParts: boolean;
  /** Aborts all requests of this upload once one part has failed. */
  readonly failure: AbortController;
}

/** Maximum number of parts that an upload sends in parallel. */
const parallelParts = 1;

/**
 * Reads `body` to its end and stores it under `key`, with back-pressure.
 * @throws the error of the body; the signal's reason; AppError `unavailable`.
 */
export async function putStream(
  target: Target,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<StoredObject> {
  return run(target, key, body, options, { unfinished: undefined, retainsParts: false });
}

/**
 * Stores `body` as `putStream` does, but sent parts remain after a failure, so that a later call can continue after
 * them.
 * @returns the size of the whole object in bytes.
 */
export async function resumeStream(
  target: Target,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: ResumeOptions,
): Promise<number> {
  const { sizeBytes } = await run(target, key, body, options, { unfinished: options.unfinished, retainsParts: true });
  return sizeBytes;
}

async function run(
  target: Target,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
  way: Pick<Writer, 'unfinished' | 'retainsParts'>,
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
  const parts = new Parts(writer, pool);
  let sizeBytes = writer.unfinished?.sizeBytes ?? 0;
  try {
    for await (const chunk of untilAborted(body, signal)) {
      hash.update(chunk);
      sizeBytes += chunk.byteLength;
      await parts.add(chunk);
    }
    signal.throwIfAborted();
    if (parts.hasStarted) await parts.complete();
    else await putWhole(writer, parts.waiting);
    return { sizeBytes, sha256: hash.digest('hex') };
  } catch (error) {
    // If the next attempt can continue after them, parts that are being sent are not aborted.
    if (!writer.retainsParts) writer.failure.abort(error);
    await parts.settled();
    if (!writer.retainsParts) await removeRemains(writer, parts.uploadId);
    const reason = parts.failed ?? error;
    throw isMissing(reason) ? asUnavailable(reason) : reason;
  } finally {
    parts.release();
  }
}

/** The parts of one upload that are being sent, and the buffer for the next part. */
class Parts {
  readonly #writer: Writer;
  readonly #pool: BufferPool;
  readonly #parts: UploadedPart[];
  readonly #sending = new Set<Promise<void>>();
  #buffer: Buffer | undefined;
  #filled = 0;
  uploadId: string | undefined;
  /** Error of the first failed part, after which the other parts were aborted. */
  failed: unknown;

  constructor(writer: Writer, pool: BufferPool) {
    this.#writer = writer;
    this.#pool = pool;
    this.#parts = [...(writer.unfinished?.parts ?? [])];
    this.uploadId = writer.unfinished?.uploadId;
  }

  /** Returns whether a multipart upload was started. */
  get hasStarted(): boolean {
    return this.uploadId !== undefined || this.#sending.size > 0 || this.#parts.length > 0;
  }

  /** Returns the received bytes that are not in a part yet. */
  get waiting(): Buffer {
    return this.#buffer?.subarray(0, this.#filled) ?? Buffer.alloc(0);
  }

  async add(chunk: Uint8Array): Promise<void> {
    for (let offset = 0; offset < chunk.byteLength;) {
      if (this.#buffer !== undefined && this.#filled === this.#pool.bufferBytes) await this.#flush();
      this.#buffer ??= await this.#pool.acquire(this.#writer.failure.signal);
      const length = Math.min(chunk.byteLength - offset, this.#pool.bufferBytes - this.#filled);
      this.#buffer.set(
        offset === 0 && length === chunk.byteLength ? chunk : chunk.subarray(offset, offset + length),
        this.#filled,
      );
      this.#filled += length;
      offset += length;
    }
  }

  async complete(): Promise<void> {
    if (this.#filled > 0) await this.#flush();
    await this.settled();
    this.#writer.failure.signal.throwIfAborted();
    await completeUpload(this.#writer, this.uploadId as string, this.#parts);
  }

  /** Resolves when all part uploads in transit have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#sending);
  }

  release(): void {
    if (this.#buffer !== undefined) this.#pool.release(this.#buffer);
    this.#buffer = undefined;
  }

  async #flush(): Promise<void> {
    const full = this.#buffer as Buffer;
    const length = this.#filled;
    this.#buffer = undefined;
    this.#filled = 0;
    // From here on, `#send` releases the buffer.
    try {
      this.uploadId ??= await createUpload(this.#writer);
      while (this.#sending.size >= parallelParts) await Promise.race(this.#sending);
      this.#writer.failure.signal.throwIfAborted();
    } catch (error) {
      this.#pool.release(full);
      throw error;
    }
    const sent = this.#send(full, length).finally(() => this.#sending.delete(sent));
    this.#sending.add(sent);
  }

  /** Never rejects: stores the first error in `failed` and aborts the upload. */
  async #send(full: Buffer, length: number): Promise<void> {
    const PartNumber = this.#parts.length + 1;
    const part: UploadedPart = { PartNumber, ETag: undefined };
    this.#parts.push(part);
    try {
      part.ETag = await uploadPart(this.#writer, this.uploadId as string, PartNumber, full.subarray(0, length));
    } catch (error) {
      this.failed ??= error;
      this.#writer.failure.abort(error);
    } finally {
      this.#pool.release(full);
    }
  }
}

/** Yields the chunks of `body`; throws the signal's reason immediately, even while `body` is pending. */
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
    // Not awaited: a body that waits for its source would not respond before that.
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

async function uploadPart(
  writer: Writer,
  UploadId: string,
  PartNumber: number,
  bytes: Buffer,
): Promise<string | undefined> {
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
  const command = new CompleteMultipartUploadCommand({
    Bucket: bucket,
    Key: key,
    UploadId,
    MultipartUpload: { Parts: parts },
  });
  try {
    await withRetry(() => client.send(command, { abortSignal: signal }), patientRetry, signal);
  } catch (error) {
    // A retried completion returns "no such upload" if the first one succeeded and its reply was lost.
    if (!isMissing(error)) throw error;
    await withRetry(() => client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })), quickRetry, signal);
  }
}

async function removeRemains({ client, bucket, key }: Writer, uploadId: string | undefined): Promise<void> {
  try {
    await removeUpload(client, bucket, key, uploadId);
  } catch {
    // The store is unavailable. The original failure is reported; the owner of the key cleans up later.
  }
}
