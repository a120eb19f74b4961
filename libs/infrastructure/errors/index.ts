/**
 * The error class of the platform with its codes. All error responses (`/api`, `/api/v1`, RPC) are derived from this
 * table.
 */

/** HTTP status, `/api/v1` code (rules/http#error-envelopes) and whether clients may retry, for each code. */
export const errorCodes = {
  bad_request: { status: 400, v1: 'validation_error', retryable: false },
  unauthenticated: { status: 401, v1: 'unauthenticated', retryable: false },
  permission_denied: { status: 403, v1: 'permission_denied', retryable: false },
  not_found: { status: 404, v1: 'not_found', retryable: false },
  method_not_allowed: { status: 405, v1: 'method_not_allowed', retryable: false },
  request_timeout: { status: 408, v1: 'request_timeout', retryable: true },
  conflict: { status: 409, v1: 'conflict', retryable: false },
  gone: { status: 410, v1: 'gone', retryable: false },
  precondition_failed: { status: 412, v1: 'precondition_failed', retryable: false },
  payload_too_large: { status: 413, v1: 'payload_too_large', retryable: false },
  unsupported_media_type: { status: 415, v1: 'unsupported_media_type', retryable: false },
  range_not_satisfiable: { status: 416, v1: 'range_not_satisfiable', retryable: false },
  expectation_failed: { status: 417, v1: 'expectation_failed', retryable: false },
  unprocessable: { status: 422, v1: 'validation_error', retryable: false },
  rate_limited: { status: 429, v1: 'rate_limited', retryable: true },
  internal: { status: 500, v1: 'server_error', retryable: true },
  unavailable: { status: 503, v1: 'server_error', retryable: true },
  deadline_exceeded: { status: 503, v1: 'server_error', retryable: true },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** The error format on NATS, from which HTTP error bodies are created. */
export interface ErrorBody {
  code: ErrorCode;
  /** Application code such as `version_conflict`. Absent: the HTTP body is the framework envelope `{detail}`. */
  reason?: string;
  message: string;
  /** Additional fields of the body, e.g. `{currentVersion: 3}`. They never contain secrets or transcripts. */
  details?: Record<string, unknown>;
}

/** Maximum characters of quoted values and of messages (D60): both may contain request data. */
export const maxQuoteLength = 120;
const maxMessageLength = 1_000;
const longQuotation = new RegExp(`"([^"]{${maxQuoteLength}})[^"]+"`, 'g');

/** Truncates to `max` UTF-16 units without splitting a character. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = text.codePointAt(max - 1) === text.charCodeAt(max - 1) ? max : max - 1;
  return text.slice(0, end);
}

function boundMessage(message: string): string {
  if (message.length <= maxQuoteLength) return message;
  return truncateText(message.replace(longQuotation, '"$1…"'), maxMessageLength);
}

/**
 * An expected error with a code. Other errors are unexpected: the boundary logs them and returns `internal`. On `/api`
 * the body is `{error: reason, message, ...details}` with a reason, otherwise `{detail: message}`
 * (rules/http#error-envelopes).
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly reason: string | undefined;
  readonly details: Record<string, unknown>;

  constructor(body: ErrorBody, options?: ErrorOptions) {
    super(boundMessage(body.message), options);
    this.name = 'AppError';
    this.code = body.code;
    this.reason = body.reason;
    this.details = body.details ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }

  toBody(): ErrorBody {
    return {
      code: this.code,
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      message: this.message,
      ...(Object.keys(this.details).length === 0 ? {} : { details: this.details }),
    };
  }
}

/** An error stored under an `Idempotency-Key` and replayed (I1). */
export class ReplayedError extends AppError {}

/**
 * Returns the message with its cause, for operators, e.g. `Object store unavailable: S3: ECONNREFUSED for bucket …`.
 */
export function describeWithCause(error: Error): string {
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const text = cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name);
  return error.message.includes(text) ? error.message : `${error.message}: ${text}`;
}

/** Creates an application error: `{error: reason, message, ...details}`. */
export function appError(
  code: ErrorCode,
  reason: string,
  message: string,
  details?: Record<string, unknown>,
): AppError {
  return new AppError({ code, reason, message, ...(details === undefined ? {} : { details }) });
}

/** Creates a 404 error with the body `{detail: message}`. */
export function notFound(message = 'Not Found'): AppError {
  return new AppError({ code: 'not_found', message });
}

/** Creates a 400 error without a reason: `validation_error` on `/api/v1`, `{detail: message}` elsewhere. */
export function badRequest(message: string): AppError {
  return new AppError({ code: 'bad_request', message });
}

/**
 * Creates the 403 error for a caller without coherence access (D13). `message` names the rights that the operation
 * accepts.
 */
export function coherenceAccessRequired(message = 'This operation needs coherence access.'): AppError {
  return appError('permission_denied', 'coherence_access_required', message, { detail: message });
}

/** Creates a 503 error: a dependency is unavailable or the service is overloaded. Clients may retry. */
export function unavailable(message = 'Service unavailable', options?: ErrorOptions): AppError {
  return new AppError({ code: 'unavailable', message }, options);
}

/**
 * Converts any thrown value to an ErrorBody. An unexpected error becomes `internal` without its message, which may
 * contain data.
 */
export function toErrorBody(error: unknown): ErrorBody {
  return error instanceof AppError ? error.toBody() : { code: 'internal', message: 'Internal error' };
}
