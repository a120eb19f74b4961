/**
 * Sends responses of the HTTP servers in the envelopes of `/api` and `/api/v1`, which the gateway passes on unchanged
 * (rules/http#error-envelopes).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { type CallRefusal, isClockSkew } from '#libs/infrastructure/nats';
import { AppError, errorCodes, ReplayedError, toErrorBody, type ErrorBody } from '#libs/infrastructure/errors';

/** Time to receive the rest of a rejected body before the connection is closed. */
const drainMs = 30_000;
const retryAfterSeconds = '5';
/** Header of a response that is replayed for an `Idempotency-Key` (I1). */
export const replayedHeader = { 'idempotent-replayed': 'true' } as const;

/** The error for a multipart form that cannot be parsed. */
export class UnparsableForm extends AppError {
  constructor() {
    super({ code: 'bad_request', message: 'Cannot parse request body' });
    this.name = 'UnparsableForm';
  }
}

/**
 * The error for a caller that is not verified. When clock skew may be the cause, the request can be retried on another
 * replica.
 */
export class UnverifiedCaller extends AppError {
  constructor(reason: CallRefusal) {
    super({ code: isClockSkew(reason) ? 'unavailable' : 'unauthenticated', message: 'The caller cannot be verified' });
    this.name = 'Unverified';
  }
}

/** Sends an error, and closes the connection without reading the rest of the body. */
export function sendErrorAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  error: AppError,
  surface: 'api' | 'v1' = 'api',
): void {
  const { status, body, headers } = describeError(error, surface);
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...headers,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes, () => request.destroy());
}

/**
 * Responds at once, then discards the rest of the request body. A connection that is closed while the client still
 * sends would be reset, and the client could not read the response.
 */
export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<void> {
  // The connection was already closed with an error.
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  });
  if (request.complete || request.destroyed) {
    response.end(request.method === 'HEAD' ? undefined : bytes);
    return;
  }
  response.write(bytes);
  request.resume();
  try {
    await finished(request, { writable: false, signal: AbortSignal.timeout(drainMs) });
    response.end();
  } catch {
    request.destroy();
  }
}

/** Sends the error in the envelope of the surface. */
export async function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  surface: 'api' | 'v1',
): Promise<void> {
  const { status, body, headers } = describeError(error, surface);
  await sendJson(request, response, status, body, headers);
}

function describeError(
  error: unknown,
  surface: 'api' | 'v1',
): { status: number; body: unknown; headers: Record<string, string> } {
  const reported = toErrorBody(error);
  const { status } = errorCodes[reported.code];
  // Malformed requests have the same envelope on both surfaces (rules/http#error-envelopes).
  const isFramework =
    surface === 'api' || (status === 422 && reported.reason === undefined) || error instanceof UnparsableForm;
  const headers = {
    ...(status === 503 ? { 'retry-after': retryAfterSeconds } : {}),
    ...(error instanceof ReplayedError ? replayedHeader : {}),
  };
  return { status, body: isFramework ? toApiEnvelope(reported) : toV1Envelope(reported), headers };
}

/** Returns `{error, message, …}` for an error with a reason, else `{detail}`. */
function toApiEnvelope({ reason, message, details = {} }: ErrorBody): unknown {
  return reason === undefined ? { detail: details['items'] ?? message } : { error: reason, message, ...details };
}

function toV1Envelope({ code, reason, message, details = {} }: ErrorBody): unknown {
  const { v1, retryable } = errorCodes[code];
  return { code: reason ?? v1, message, retryable, ...details };
}
