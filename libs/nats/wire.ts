/**
 * What travels in NATS headers and what a reply looks like on the wire (architecture#rpc). Headers are encoded by hand:
 * the client's own builder checks every key and value of every message, which costs more than the rest of a small request.
 */
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { Actor } from '#libs/contract';
import { AppError, type ErrorBody, errorCodes, ReplayedError, unavailable } from '#libs/errors';
import { isJsonObject } from '#libs/json';
import type { ReplyMetadata } from './reply.ts';
import { randomUUID } from 'node:crypto';

/** Who asks, until when, and in which trace; handed from hop to hop. */
export interface CallContext {
  readonly requestId: string;
  /** For whom. Hand on the object that was given: a copy of it is vouched for by nobody. */
  readonly actor?: Actor | undefined;
  /** What limits count the client by, for the audit log; set by the gateway where a request may change something (A1). */
  readonly clientIp?: string | undefined;
  /**
   * `Idempotency-Key` to send with the call; set by the gateway for idempotent operations (I1). The served context has it under another name, so that
   * passing that context on to a nested call does not forward the key.
   */
  readonly sentIdempotencyKey?: string | undefined;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
  /** Epoch milliseconds after which nobody waits for the answer. */
  readonly deadlineMs?: number | undefined;
  /** Aborts the wait; the responder goes on until the deadline, a streamed reply stops. */
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
  /** Count of chunks; the message that carries it is the end mark. */
  chunkEnd: 'Chunk-End',
  chunkAlive: 'Chunk-Alive',
  /** Of what a reader tells: the last chunk that has come, which may wait to be taken. */
  chunkReceived: 'Chunk-Received',
} as const;

const forbidden = /[\r\n\0]/g;

/** Header block that is already encoded; the client only asks for `encode`. */
class EncodedHeaders {
  readonly #bytes: Uint8Array;
  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'utf8');
  }
  encode(): Uint8Array {
    return this.#bytes;
  }
}

/** Headers for `publish`, from pairs; line breaks in values become spaces. */
export function encodeHeaders(pairs: Readonly<Record<string, string | undefined>>): MsgHdrs {
  let text = 'NATS/1.0';
  for (const key in pairs) {
    const value = pairs[key];
    if (value !== undefined) text += `\r\n${key}: ${value.replace(forbidden, ' ')}`;
  }
  return new EncodedHeaders(`${text}\r\n\r\n`) as unknown as MsgHdrs;
}

/** Request headers of a call; `assertion` vouches for its actor, `traceparent` is that of the call itself. */
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

/** What a reply says beside its body. */
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

/** Headers of a reply's facts; undefined when there are none. */
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

/** True for the server's own message that nobody listens on the subject. */
export function isNoResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === 503;
}

/** The failure in an error reply's body; anything unreadable becomes `internal`. */
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

/** UTF-8 to text. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** 503: nobody serves the subject. */
export function noResponders(subject: string): AppError {
  return unavailable(`No service answers ${subject}`);
}

/** The wait ended before an answer came; a client sees 503, an internal caller can tell it apart. */
export function deadlineExceeded(subject: string): AppError {
  return new AppError({ code: 'deadline_exceeded', message: `${subject} did not answer in time` });
}

/** 503 of everything that was waiting when the connection to the broker broke. */
export function connectionLost(): AppError {
  return unavailable('The message broker is not reachable');
}

/** Context of work that no client caused (start-up, sweeps, jobs, the CLI): a new request id and no actor, the process acts for itself. */
export function newContext(given: Omit<Partial<CallContext>, 'actor'> = {}): CallContext {
  return { requestId: randomUUID(), ...given };
}

/** What a service asks for itself while it serves a call: the same request, trace and deadline, for no client. */
export function withoutActor({ requestId, traceparent, deadlineMs }: CallContext): CallContext {
  return { requestId, traceparent, deadlineMs };
}
