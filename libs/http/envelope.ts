/** The one mapper from errors to answers: status, headers and the envelope of the surface (spec 01 and 02, Errors; spec 03 §1). */
import { AppError, type ErrorBody, errorCodes, toErrorBody } from '#libs/errors';
import type { Surface } from './exchange.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Body text that is no JSON or nested too deeply; `{detail}` on every surface. */
export class UnparsableBody extends AppError {
  constructor() {
    super({ code: 'bad_request', message: 'Cannot parse request body' });
    this.name = 'UnparsableBody';
  }
}

/** One entry of a 422 answer, in the words that clients of such APIs know. */
export interface ValidationItem {
  type: string;
  loc: (string | number)[];
  msg: string;
  ctx?: Record<string, unknown>;
}

/** 422 with every problem found. */
export function invalidInput(items: readonly ValidationItem[]): AppError {
  return new AppError({ code: 'unprocessable', message: 'The request is not valid', details: { items } });
}

/** 405 with the methods that the path has. */
export class MethodNotAllowed extends AppError {
  readonly allow: string;
  constructor(allow: string) {
    super({ code: 'method_not_allowed', message: 'Method not allowed' });
    this.allow = allow;
  }
}

/** Seconds after which a client may come again when the error itself does not say (detail `retry_after`). */
const defaultRetryAfterSeconds: Partial<Record<number, string>> = { 429: '60', 503: '1' };

/** Renders whatever was thrown. Faults show nothing of themselves. */
export function renderError(surface: Surface, error: unknown): ErrorAnswer {
  const body = toErrorBody(error);
  const status = errorCodes[body.code].status;
  const { retry_after: retryAfter, ...details } = (body.details ?? {}) as { retry_after?: string | number } & Record<string, unknown>;
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (error instanceof MethodNotAllowed) headers['Allow'] = error.allow;
  const wait = retryAfter === undefined ? defaultRetryAfterSeconds[status] : String(retryAfter);
  if (wait !== undefined) headers['Retry-After'] = wait;
  const framework = surface !== 'v1' || status === 422 || status === 413 || error instanceof UnparsableBody;
  return { status, headers, body: JSON.stringify(framework ? toApiEnvelope(body, details) : toV1Envelope(body, details)) };
}

function toApiEnvelope(body: ErrorBody, details: Record<string, unknown>): unknown {
  if (body.code === 'unprocessable' && Array.isArray(details['items'])) return { detail: details['items'] };
  if (body.reason === undefined) return { detail: frameworkMessage(body) };
  const { detail, ...rest } = details;
  return { ...(detail === undefined ? {} : { detail }), error: body.reason, message: body.message, ...rest };
}

function frameworkMessage(body: ErrorBody): string {
  if (body.code === 'unauthenticated') return 'Unauthorized';
  return body.code === 'internal' ? 'Internal Server Error' : body.message;
}

function toV1Envelope(body: ErrorBody, details: Record<string, unknown>): unknown {
  const { v1, retryable } = errorCodes[body.code];
  return { code: body.reason ?? v1, message: body.message, retryable, ...details };
}
