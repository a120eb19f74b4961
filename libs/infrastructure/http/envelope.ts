/** Maps every error to a response: status, headers and the envelope of the surface (rules/http#error-envelopes). */
import {
  AppError,
  truncateText,
  type ErrorBody,
  errorCodes,
  maxQuoteLength,
  ReplayedError,
  toErrorBody,
} from '#libs/infrastructure/errors';
import type { Surface } from './exchange.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Maximum number of problems in a 422 response (D60). */
export const maxProblems = 50;
/** Maximum bytes of an error body (D60). */
const maxErrorBytes = 65_536;
/**
 * Statuses whose body is `{detail}` on every surface when the error has no specific reason: the request was rejected
 * before it reached an operation.
 */
export const frameworkStatuses = new Set([408, 413, 415, 417, 422, 431]);

/** Error for a body that is not JSON or is nested too deeply; the response is `{detail}` on every surface. */
export class UnparsableBody extends AppError {
  constructor() {
    super({ code: 'bad_request', message: 'Cannot parse request body' });
    this.name = 'UnparsableBody';
  }
}

/** One entry of a 422 response, in the vocabulary that API clients know. */
export interface ValidationItem {
  type: string;
  loc: (string | number)[];
  msg: string;
  ctx?: Record<string, unknown>;
}

/** Creates a 422 error with these problems. */
export function invalidInput(items: readonly ValidationItem[]): AppError {
  return new AppError({ code: 'unprocessable', message: 'The request is not valid', details: { items } });
}

/** 405 with the allowed methods of the path. */
export class MethodNotAllowed extends AppError {
  readonly allow: string;
  constructor(allow: string) {
    super({ code: 'method_not_allowed', message: 'Method not allowed' });
    this.allow = allow;
  }
}

/** Seconds until a client may retry, by status. An error can override them with the detail `retry_after`. */
const defaultRetryAfterSeconds: Partial<Record<number, string>> = { 429: '60', 503: '1' };

/** Converts any thrown value to a response. Unexpected errors do not reveal details. */
export function renderError(surface: Surface, error: unknown): ErrorResponse {
  const body = toErrorBody(error);
  const status = errorCodes[body.code].status;
  const { retry_after: retryAfter, ...details } = (body.details ?? {}) as { retry_after?: string | number } & Record<
    string,
    unknown
  >;
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (error instanceof MethodNotAllowed) headers['Allow'] = error.allow;
  const wait = retryAfter === undefined ? defaultRetryAfterSeconds[status] : String(retryAfter);
  if (wait !== undefined) headers['Retry-After'] = wait;
  if (error instanceof ReplayedError) headers['Idempotent-Replayed'] = 'true';
  const isForm = error instanceof UnparsableBody || (frameworkStatuses.has(status) && body.reason === undefined);
  const framework = surface !== 'v1' || isForm;
  return {
    status,
    headers,
    body: writeBounded(details, (reported) =>
      framework ? toApiEnvelope(body, reported) : toV1Envelope(body, reported),
    ),
  };
}

/** Returns the envelope as JSON within the size limit: with all details, with shortened details, or without details. */
function writeBounded(
  details: Record<string, unknown>,
  envelope: (details: Record<string, unknown>) => unknown,
): string {
  const { items } = details;
  const reported = Array.isArray(items)
    ? { ...details, items: (items as ValidationItem[]).slice(0, maxProblems).map(cutItem) }
    : details;
  const whole = JSON.stringify(envelope(reported));
  if (Buffer.byteLength(whole) <= maxErrorBytes) return whole;
  const fitting = JSON.stringify(envelope(fitDetails(reported)));
  return Buffer.byteLength(fitting) <= maxErrorBytes ? fitting : JSON.stringify(envelope({}));
}

function cutItem(item: ValidationItem): ValidationItem {
  return {
    ...item,
    loc: item.loc.map((part) => (typeof part === 'string' ? truncateText(part, maxQuoteLength) : part)),
  };
}

/** Shortens lists and objects to the entries that fit, and replaces other details that do not fit by null. */
function fitDetails(details: Record<string, unknown>): Record<string, unknown> {
  let remaining = maxErrorBytes - 4_096;
  const take = (value: unknown): boolean => (remaining -= Buffer.byteLength(JSON.stringify(value) ?? '')) >= 0;
  const fit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter(take);
    if (typeof value !== 'object' || value === null) return take(value) ? value : null;
    return Object.fromEntries(Object.entries(value).filter(take));
  };
  return Object.fromEntries(Object.entries(details).map(([key, value]) => [key, fit(value)]));
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
  const { detail: _repeated, ...rest } = details; // repeats the message, which only `/api` shows
  // All missing objects have the same code; the message names the kind of object (D94).
  const code = body.code === 'not_found' ? v1 : (body.reason ?? v1);
  return { code, message: body.message, retryable, ...rest };
}
