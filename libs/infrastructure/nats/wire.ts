/**
 * NATS headers and the wire format of replies (architecture#rpc). Headers are encoded without the client's builder,
 * which validates every key and value and costs more than all other work for a small request.
 */
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { Actor } from '#libs/infrastructure/contract';
import { AppError, type ErrorBody, errorCodes, ReplayedError, unavailable } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import type { ReplyMetadata } from './reply.ts';
import { randomUUID } from 'node:crypto';

/** Request id, actor, deadline and trace of a call; nested calls receive the same values. */
export interface CallContext {
  readonly requestId: string;
  /** The actor object as received. The assertion belongs to this object; a copy has none. */
  readonly actor?: Actor | undefined;
  /**
   * Client address for the audit log, as used by rate limits; set by the gateway for operations with side effects (A1).
   */
  readonly clientIp?: string | undefined;
  /** Client program of a write, for the history of objects (W10); set by the gateway, absent for other API clients. */
  readonly via?: string | undefined;
  /**
   * `Idempotency-Key` to send with the call. The gateway sets it for idempotent operations (I1). The served context
   * stores the key under another name, so that nested calls do not forward it.
   */
  readonly sentIdempotencyKey?: string | undefined;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
  /** Epoch milliseconds after which the caller stops waiting. */
  readonly deadlineMs?: number | undefined;
  /** Aborts the wait for the reply. The responder continues until the deadline; a streamed reply stops. */
  readonly signal?: AbortSignal | undefined;
}

/** Header names of requests and replies. */
export const header = {
  requestId: 'Request-Id',
  actor: 'Actor',
  traceparent: 'traceparent',
  deadline: 'Deadline',
  clientIp: 'Client-Ip',
  via: 'Via',
  idempotencyKey: 'Idempotency-Key',
  status: 'Status',
  outcome: 'Outcome',
  digest: 'Digest',
  etag: 'Etag',
  replayed: 'Replayed',
  total: 'Total',
  /** Number of a chunk, starting at 1. */
  chunk: 'Chunk',
  /** Number of chunks in the last message of a stream. */
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

/** Encodes headers for `publish`. Line breaks in values become spaces. */
export function encodeHeaders(pairs: Readonly<Record<string, string | undefined>>): MsgHdrs {
  let text = 'NATS/1.0';
  for (const key in pairs) {
    const value = pairs[key];
    if (value !== undefined) text += `\r\n${key}: ${value.replace(forbidden, ' ')}`;
  }
  return new EncodedHeaders(`${text}\r\n\r\n`) as unknown as MsgHdrs;
}

/**
 * Encodes the request headers of a call. `assertion` proves the actor; `traceparent` is the trace context of the call.
 */
export function encodeContext(
  context: CallContext,
  deadlineMs: number,
  assertion: string | undefined,
  traceparent = context.traceparent,
): MsgHdrs {
  let text = `NATS/1.0\r\n${header.requestId}: ${context.requestId.replace(forbidden, ' ')}\r\n${header.deadline}: ${deadlineMs}`;
  if (context.clientIp !== undefined) text += `\r\n${header.clientIp}: ${context.clientIp.replace(forbidden, ' ')}`;
  if (context.via !== undefined) text += `\r\n${header.via}: ${context.via.replace(forbidden, ' ')}`;
  const { sentIdempotencyKey: key } = context;
  if (key !== undefined) text += `\r\n${header.idempotencyKey}: ${key.replace(forbidden, ' ')}`;
  if (assertion !== undefined) text += `\r\n${header.actor}: ${assertion}`;
  if (traceparent !== undefined) text += `\r\n${header.traceparent}: ${traceparent.replace(forbidden, ' ')}`;
  return new EncodedHeaders(`${text}\r\n\r\n`) as unknown as MsgHdrs;
}

/** Returns the first value of a header, without the linear search of the client's `get`. */
export function readHeader(headers: MsgHdrs | undefined, name: string): string | undefined {
  if (headers === undefined) return undefined;
  for (const [key, values] of headers) if (key === name) return values[0];
  return undefined;
}

/** Reads the metadata of a reply from its headers. */
export function readReplyMetadata(headers: MsgHdrs): ReplyMetadata {
  let outcome: string | undefined;
  let digest: string | undefined;
  let etag: string | undefined;
  let replayed = false;
  let total: number | undefined;
  for (const [key, values] of headers) {
    if (key === header.outcome) outcome = values[0];
    else if (key === header.digest) digest = values[0];
    else if (key === header.etag) etag = values[0];
    else if (key === header.replayed) replayed = true;
    else if (key === header.total) total = Number(values[0]);
  }
  return { outcome, digest, etag, replayed, total };
}

/** Encodes reply metadata as headers; returns undefined without metadata. */
export function encodeReplyMetadata({
  outcome,
  digest,
  etag,
  replayed,
  total,
}: ReplyMetadata): Readonly<Record<string, string | undefined>> | undefined {
  if ([outcome, digest, etag, total].every((value) => value === undefined) && replayed !== true) return undefined;
  return {
    [header.outcome]: outcome,
    [header.digest]: digest,
    [header.etag]: etag,
    [header.replayed]: replayed === true ? '1' : undefined,
    [header.total]: total === undefined ? undefined : String(total),
  };
}

/** Returns true for the server's message that no client subscribes to the subject. */
export function isNoResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === 503;
}

/** Parses the error in the body of an error reply. An unreadable body becomes `internal`. */
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

/** Returns a 503 error: no service subscribes to the subject. */
export function noResponders(subject: string): AppError {
  return unavailable(`No service answers ${subject}`);
}

/**
 * Returns the error for a missing reply at the deadline. Clients get 503; internal callers can distinguish it from
 * other errors.
 */
export function deadlineExceeded(subject: string): AppError {
  return new AppError({ code: 'deadline_exceeded', message: `${subject} did not answer in time` });
}

/** Returns the 503 error for pending calls when the connection to the broker is lost. */
export function connectionLost(): AppError {
  return unavailable('The message broker is not reachable');
}

/**
 * Returns a context with a new request id and no actor, for work without a client (start-up, sweeps, jobs, the CLI).
 */
export function newContext(given: Omit<Partial<CallContext>, 'actor'> = {}): CallContext {
  return { requestId: randomUUID(), ...given };
}

/**
 * Returns the context for calls that a service makes for itself while serving a request: the same request id, trace and
 * deadline, but no actor.
 */
export function withoutActor({ requestId, traceparent, deadlineMs }: CallContext): CallContext {
  return { requestId, traceparent, deadlineMs };
}
