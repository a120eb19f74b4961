/** Errors that calls throw. */

/** The response has a status of 400 and above, or a status that the operation does not document. */
export class ApiError extends Error {
  readonly operation: string;
  readonly status: number;
  readonly headers: Headers;
  /** The body as parsed JSON, or else as text. */
  readonly body: unknown;

  constructor(operation: string, status: number, headers: Headers, body: unknown) {
    super(`${operation}: ${status} ${describe(body)}`);
    this.name = 'ApiError';
    this.operation = operation;
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** Returns the request id, which is also in the server's log. */
  get requestId(): string | undefined {
    return this.headers.get('x-request-id') ?? undefined;
  }

  /**
   * Returns the seconds to wait before a retry, for 429 and 503. Also parses dates, which proxies can send (RFC 9110).
   */
  get retryAfterSeconds(): number | undefined {
    const text = this.headers.get('retry-after') ?? '';
    if (/^\d+$/.test(text)) return Number(text);
    const atMs = Date.parse(text);
    return Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - Date.now()) / 1000);
  }
}

/** No complete response: the operation may have taken effect. `cause` is the error of `fetch`. */
export class ApiConnectionError extends Error {
  readonly operation: string;

  constructor(operation: string, what: string, options?: ErrorOptions) {
    super(`${operation}: ${what}`, options);
    this.name = 'ApiConnectionError';
    this.operation = operation;
  }
}

/** An attempt received no complete response within its timeout. */
export class ApiTimeoutError extends ApiConnectionError {
  readonly timeoutMs: number;

  constructor(operation: string, timeoutMs: number) {
    super(operation, `no complete response within ${timeoutMs} ms`);
    this.name = 'ApiTimeoutError';
    this.timeoutMs = timeoutMs;
  }
}

function describe(body: unknown): string {
  if (typeof body !== 'object' || body === null) return String(body).slice(0, 200);
  const { error, code, message, detail } = body as Record<string, unknown>;
  const texts = [error ?? code, message ?? (typeof detail === 'string' ? detail : JSON.stringify(detail))];
  return texts.filter((text) => text !== undefined).join(': ');
}
