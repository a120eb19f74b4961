/**
 * NATS headers and the wire format of replies (architecture#rpc). Headers are encoded by hand: the client's builder
 * validates every key and value, which costs more than the rest of a small request.
 */
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { Actor } from '#libs/contract';
import { AppError, type ErrorBody, errorCodes, ReplayedError, unavailable } from '#libs/errors';
import { isJsonObject } from '#libs/json';
import type { ReplyMetadata } from './reply.ts';
import { randomUUID } from 'node:crypto';

/** Request id, actor, deadline and trace of a call, passed from hop to hop. */
export interface CallContext {
  readonly requestId: string;
  /** The actor object as received: a copy has no assertion. */
  readonly actor?: Actor | undefined;
  /**
   * Client address for the audit log, as used by rate limits; set by the gateway for operations with side effects (A1).
   */
  readonly clientIp?: string | undefined;
  /**
   * `Idempotency-Key` to send with the call, set by the gateway for idempotent operations (I1). The served context has
   * it under another name, so that nested calls do not forward the key.
   */
  readonly sentIdempotencyKey?: string | undefined;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
  /** Epoch milliseconds after which the caller no longer waits. */
  readonly deadlineMs?: number | undefined;
  /** Aborts the wait. The responder continues until the deadline; a streamed reply stops. */
  readonly signal?: AbortSignal | undefined;
}

/** Header names of requests and replies. */
export const header = {
  requestId: 'Request-Id',
  actor: 'Actor',
  traceparent: 'traceparent',
  deadline: 'Deadline',
  clientIp: 'Client-Ip',
  idempotencyKey: 'Idempotency-Key',
  status: 'Status',
  outcome: 'Outcome',
  digest: 'Digest',
  etag: 'Etag',
  replayed: 'Replayed',
  /** Number of a chunk, from 1. */
  chunk: 'Chunk',
  /** Number of chunks; marks the end of the stream. */
  chunkEnd: 'Chunk-End',
  chunkAlive: 'Chunk-Alive',
  /** Control message of a reader: the last chunk received, consumed or not. */
  chunkReceived: 'Chunk-Received',
} as const;

const forbidden = /[\r\n\0]/g;

/** A header block that is already encoded; the client only calls `encode`. */
class EncodedHeaders {
  readonly #bytes: Uint8Array;
  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'utf8');
  }
  encode(): Uint8Array {
    return this.#bytes;
  }
}

/** Headers for `publish`; line breaks in values become spaces. */
export function encodeHeaders(pairs: Readonly<Record<string, string | undefined>>): MsgHdrs {
  let text = 'NATS/1.0';
  for (const key in pairs) {
    const value = pairs[key];
    if (value !== undefined) text += `\r\n${key}: ${value.replace(forbidden, ' ')}`;
  }
  return new EncodedHeaders(`${text}\r\n\r\n`) as unknown as MsgHdrs;
}

/** Request headers of a call. `assertion` proves its actor; `traceparent` is that of the call itself. */
export function encodeContext(
  context: CallContext,
  deadlineMs: number,
  assertion: string | undefined,
  traceparent = context.traceparent,
): MsgHdrs {
  let text = `NATS/1.0\r\n${header.requestId}: ${context.requestId.replace(forbidden, ' ')}\r\n${header.deadline}: ${deadlineMs}`;
  if (context.clientIp !== undefined) text += `\r\n${header.clientIp}: ${context.clientIp.replace(forbidden, ' ')}`;
  const { sentIdempotencyKey: key } = context;
  if (key !== undefined) text += `\r\n${header.idempotencyKey}: ${key.replace(forbidden, ' ')}`;
  if (assertion !== undefined) text += `\r\n${header.actor}: ${assertion}`;
  if (traceparent !== undefined) text += `\r\n${header.traceparent}: ${traceparent.replace(forbidden, ' ')}`;
  return new EncodedHeaders(`${text}\r\n\r\n`) as unknown as MsgHdrs;
}

/** First value of a header, without the linear search of the client's `get`. */
export function readHeader(headers: MsgHdrs | undefined, name: string): string | undefined {
  if (headers === undefined) return undefined;
  for (const [key, values] of headers) if (key === name) return values[0];
  return undefined;
}

/** Metadata of a reply. */
export function readReplyMetadata(headers: MsgHdrs): ReplyMetadata {
  let outcome: string | undefined;
  let digest: string | undefined;
  let etag: string | undefined;
  let replayed = false;
  for (const [key, values] of headers) {
    if (key === header.outcome) outcome = values[0];
    else if (key === header.digest) digest = values[0];
    else if (key === header.etag) etag = values[0];
    else if (key === header.replayed) replayed = true;
  }
  return { outcome, digest, etag, replayed };
}

/** Headers of reply metadata; undefined when there is none. */
export function encodeReplyMetadata({
  outcome,
  digest,
  etag,
  replayed,
}: ReplyMetadata): Readonly<Record<string, string | undefined>> | undefined {
  if (outcome === undefined && digest === undefined && etag === undefined && replayed !== true) return undefined;
  return {
    [header.outcome]: outcome,
    [header.digest]: digest,
    [header.etag]: etag,
    [header.replayed]: replayed === true ? '1' : undefined,
  };
}

/** True for the server's message that the subject has no subscriber. */
export function isNoResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === 503;
}

/** The error in the body of an error reply; unreadable bodies become `internal`. */
export function parseErrorBody(bytes: Uint8Array, replayed = false): AppError {
  let value: unknown;
  try {
    value = JSON.parse(decodeText(bytes));
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value) || typeof value['code'] !== 'string' || !Object.hasOwn(errorCodes, value['code'])) {
    return new AppError({ code: 'internal', message: 'Internal error' });
  }
  const body = value as unknown as ErrorBody;
  return replayed ? new ReplayedError(body) : new AppError(body);
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** 503: no service subscribes to the subject. */
export function noResponders(subject: string): AppError {
  return unavailable(`No service answers ${subject}`);
}

/** No reply before the deadline. Clients see 503; internal callers can distinguish it. */
export function deadlineExceeded(subject: string): AppError {
  return new AppError({ code: 'deadline_exceeded', message: `${subject} did not answer in time` });
}

/** 503 for everything pending when the connection to the broker broke. */
export function connectionLost(): AppError {
  return unavailable('The message broker is not reachable');
}

/** Context of work without a client (start-up, sweeps, jobs, the CLI): a new request id and no actor. */
export function newContext(given: Omit<Partial<CallContext>, 'actor'> = {}): CallContext {
  return { requestId: randomUUID(), ...given };
}

/**
 * Context for calls that a service makes on its own behalf while serving a request: same request id, trace and
 * deadline.
 */
export function withoutActor({ requestId, traceparent, deadlineMs }: CallContext): CallContext {
  return { requestId, traceparent, deadlineMs };
}
