/**
 * Values that a handler may return besides plain ones, and the reply that a raw caller receives
 * (docs/performance-notes.md#json-from-sql-without-parsing).
 */

/** Bytes of a reply that is already serialized; they are sent unchanged. */
export class RawJson {
  readonly bytes: Uint8Array;
  /** False for text that is not JSON, such as Markdown. */
  readonly json: boolean;
  constructor(bytes: Uint8Array, json: boolean) {
    this.bytes = bytes;
    this.json = json;
  }
}

/**
 * A reply of any size that is created chunk by chunk. Above 64 KiB it is sent with flow control
 * (architecture#large-messages).
 */
export class JsonStream {
  readonly source: AsyncIterable<string | Uint8Array>;
  readonly json: boolean;
  /** True: each chunk is sent as soon as it exists. */
  readonly isLive: boolean;
  constructor(source: AsyncIterable<string | Uint8Array>, json: boolean, isLive = false) {
    this.source = source;
    this.json = json;
    this.isLive = isLive;
  }
}

/** Metadata of a reply for the gateway, besides the body. */
export interface ReplyMetadata {
  readonly outcome?: string | undefined;
  readonly digest?: string | undefined;
  /** ETag of the resource, for a reply to a write whose body is another representation. */
  readonly etag?: string | undefined;
  /** True when the reply was stored under an `Idempotency-Key` and is replayed (I1). */
  readonly replayed?: boolean | undefined;
  /** Number of items of the whole list, for a reply with a page of them. */
  readonly total?: number | undefined;
}

/** A reply body with metadata for the gateway. */
export class TaggedReply<Body = unknown> {
  readonly body: Body;
  readonly metadata: ReplyMetadata;
  constructor(body: Body, metadata: ReplyMetadata) {
    this.body = body;
    this.metadata = metadata;
  }
}

/** Creates a reply from JSON text, e.g. from SQL. */
export function rawJson(text: string | Uint8Array): RawJson {
  return new RawJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, true);
}

/** Creates a page of items that are JSON texts. `next` is the position of the next page. */
export function jsonPage(items: readonly string[], next: string | number | null): RawJson {
  return rawJson(`{"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`);
}

/** Creates a reply from text that is not JSON, such as Markdown. */
export function rawBytes(text: string | Uint8Array): RawJson {
  return new RawJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, false);
}

/**
 * Creates a reply from chunks of JSON text. The iterator is closed when the reader disconnects. An error of the
 * iterator fails the reader's stream.
 */
export function jsonStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, true);
}

/** Creates a JSON list from batches of items that are JSON texts. */
export function jsonListStream(batches: AsyncIterable<readonly string[]>): JsonStream {
  return jsonStream(writeList(batches));
}

async function* writeList(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const items of batches) {
    if (items.length === 0) continue;
    yield before + items.join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Creates a reply from chunks that are not JSON. */
export function byteStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, false);
}

/**
 * Creates a reply whose chunks are sent immediately instead of being collected. The source creates its next chunk only
 * after the reader has consumed all but the last few, so each chunk is current.
 */
export function liveStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, false, true);
}

/** Sets which of the route's `outcomes` the reply has, e.g. `created` → 201. */
export function withOutcome<Body>(body: Body, outcome: string): TaggedReply<Body> {
  return new TaggedReply(body, { outcome });
}

/** Adds a digest of the body, so that the gateway does not need to hash the body for an ETag. */
export function withDigest<Body>(body: Body, digest: string): TaggedReply<Body> {
  return new TaggedReply(body, { digest });
}

/** Adds the number of items of the whole list to a page of them. */
export function withTotal<Body>(body: Body, total: number): TaggedReply<Body> {
  return new TaggedReply(body, { total });
}

/** Adds the ETag that clients send as `If-Match` with the next write of the resource (I2). */
export function withEtag<Body>(body: Body, etag: string): TaggedReply<Body> {
  return new TaggedReply(body, { etag });
}

/**
 * A reply as received. `chunks` can be read once; if the stream breaks, reading throws AppError, so an incomplete
 * stream never looks complete. Leaving the loop early stops the responder.
 */
export type RawReply =
  | ({ readonly kind: 'bytes'; readonly bytes: Uint8Array } & ReplyMetadata)
  | ({ readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> } & ReplyMetadata);
