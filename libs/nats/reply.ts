/**
 * What a handler may answer besides a plain value, and what a raw caller gets
 * (docs/performance-notes.md#json-from-sql-without-parsing).
 */

/** Bytes of a reply that is already serialised; sent as they are. */
export class RawJson {
  readonly bytes: Uint8Array;
  /** False for text that is not JSON (Markdown); such a reply is not validated. */
  readonly json: boolean;
  constructor(bytes: Uint8Array, json: boolean) {
    this.bytes = bytes;
    this.json = json;
  }
}

/** A reply of any size, made piece by piece; chunked with flow control above 64 KiB (architecture#large-messages). */
export class JsonStream {
  readonly source: AsyncIterable<string | Uint8Array>;
  readonly json: boolean;
  /** Each piece is for the reader as soon as it is there. */
  readonly isLive: boolean;
  constructor(source: AsyncIterable<string | Uint8Array>, json: boolean, isLive = false) {
    this.source = source;
    this.json = json;
    this.isLive = isLive;
  }
}

/** Facts for the gateway beside the body. */
export interface ReplyMetadata {
  readonly outcome?: string | undefined;
  readonly digest?: string | undefined;
  /** Tag of the resource that a write answers with: another representation than the body. */
  readonly etag?: string | undefined;
  /** It was kept under an `Idempotency-Key` and is given again (I1). */
  readonly replayed?: boolean | undefined;
}

/** A reply with facts for the gateway beside the body. */
export class TaggedReply<Body = unknown> {
  readonly body: Body;
  readonly metadata: ReplyMetadata;
  constructor(body: Body, metadata: ReplyMetadata) {
    this.body = body;
    this.metadata = metadata;
  }
}

/** A JSON text made by SQL or serialised before. */
export function rawJson(text: string | Uint8Array): RawJson {
  return new RawJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, true);
}

/** A page of items that are JSON texts themselves, and where the next one begins. */
export function jsonPage(items: readonly string[], next: string | number | null): RawJson {
  return rawJson(`{"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`);
}

/** Bytes that are not JSON, such as Markdown. */
export function rawBytes(text: string | Uint8Array): RawJson {
  return new RawJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, false);
}

/**
 * JSON text in pieces. The iterator is closed when the reader goes away; a failure of it breaks the reader's stream.
 */
export function jsonStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, true);
}

/** A list as one JSON text, of items that are JSON texts themselves and come in batches. */
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

/** Pieces of something that is not JSON. */
export function byteStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, false);
}

/**
 * Pieces that the reader gets as they are made, not when there are enough of them. A source that is asked for the next
 * one has had those before taken, apart from a few: what it then makes is of that moment.
 */
export function liveStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, false, true);
}

/** Tells the gateway which of a route's `outcomes` this is, e.g. `created` → 201. */
export function withOutcome<Body>(body: Body, outcome: string): TaggedReply<Body> {
  return new TaggedReply(body, { outcome });
}

/** Hands on a digest of the body, so that the gateway need not hash it for an ETag. */
export function withDigest<Body>(body: Body, digest: string): TaggedReply<Body> {
  return new TaggedReply(body, { digest });
}

/** Says which `If-Match` the next write of the resource may send (I2). */
export function withEtag<Body>(body: Body, etag: string): TaggedReply<Body> {
  return new TaggedReply(body, { etag });
}

/**
 * A reply as it came. `chunks` can be read once; it throws AppError when the stream breaks and never looks complete
 * then. Leaving the loop early stops the responder.
 */
export type RawReply =
  | ({ readonly kind: 'bytes'; readonly bytes: Uint8Array } & ReplyMetadata)
  | ({ readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> } & ReplyMetadata);
