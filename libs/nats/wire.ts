/**
 * What travels in NATS headers and what a reply looks like on the wire (architecture#rpc). Headers are encoded by hand:
 * the client's own builder checks every key and value of every message, which costs more than the rest of a small request.
 */
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { Actor } from '#libs/contract';
import { AppError, type ErrorBody, errorCodes, unavailable } from '#libs/errors';
import { isJsonObject } from '#libs/json';

/** Who asks, until when, and in which trace; handed from hop to hop. */
export interface CallContext {
  readonly requestId: string;
  /** For whom. Hand on the object that was given: a copy of it is vouched for by nobody. */
  readonly actor?: Actor | undefined;
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
  status: 'Status',
  outcome: 'Outcome',
  digest: 'Digest',
  /** Number of a chunk, from 1. */
  chunk: 'Chunk',
  /** Count of chunks; the message that carries it is the end mark. */
  chunkEnd: 'Chunk-End',
  chunkAlive: 'Chunk-Alive',
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

/** True for the server's own message that nobody listens on the subject. */
export function isNoResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === 503;
}

/** The failure in an error reply's body; anything unreadable becomes `internal`. */
export function parseErrorBody(bytes: Uint8Array): AppError {
  let value: unknown;
  try {
    value = JSON.parse(decodeText(bytes));
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value) || typeof value['code'] !== 'string' || !Object.hasOwn(errorCodes, value['code'])) {
    return new AppError({ code: 'internal', message: 'Internal error' });
  }
  return new AppError(value as unknown as ErrorBody);
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
