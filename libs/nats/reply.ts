/** What a handler may answer besides a plain value, and what a raw caller gets. */

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

/** A reply of any size, made piece by piece; chunked with flow control above 512 KiB (architecture#large-messages). */
export class JsonStream {
  readonly source: AsyncIterable<string | Uint8Array>;
  readonly json: boolean;
  constructor(source: AsyncIterable<string | Uint8Array>, json: boolean) {
    this.source = source;
    this.json = json;
  }
}

/** A reply with facts for the gateway beside the body. */
export class TaggedReply<Body = unknown> {
  readonly body: Body;
  readonly outcome: string | undefined;
  readonly digest: string | undefined;
  constructor(body: Body, outcome: string | undefined, digest: string | undefined) {
    this.body = body;
    this.outcome = outcome;
    this.digest = digest;
  }
}

/** A JSON text made by SQL or serialised before. */
export function rawJson(text: string | Uint8Array): RawJson {
  return new RawJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, true);
}

/** Bytes that are not JSON, such as Markdown. */
export function rawBytes(text: string | Uint8Array): RawJson {
  return new RawJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, false);
}

/** JSON text in pieces. The iterator is closed when the reader goes away; a failure of it breaks the reader's stream. */
export function jsonStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, true);
}

/** Pieces of something that is not JSON. */
export function byteStream(source: AsyncIterable<string | Uint8Array>): JsonStream {
  return new JsonStream(source, false);
}

/** Tells the gateway which of a route's `outcomes` this is, e.g. `created` → 201. */
export function withOutcome<Body>(body: Body, outcome: string): TaggedReply<Body> {
  return new TaggedReply(body, outcome, undefined);
}

/** Hands on a digest of the body, so that the gateway need not hash it for an ETag. */
export function withDigest<Body>(body: Body, digest: string): TaggedReply<Body> {
  return new TaggedReply(body, undefined, digest);
}

interface ReplyFacts {
  readonly outcome?: string | undefined;
  readonly digest?: string | undefined;
}

/**
 * A reply as it came. `chunks` can be read once; it throws AppError when the stream breaks and never looks complete then.
 * Leaving the loop early stops the responder.
 */
export type RawReply =
  | ({ readonly kind: 'bytes'; readonly bytes: Uint8Array } & ReplyFacts)
  | ({ readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> } & ReplyFacts);
