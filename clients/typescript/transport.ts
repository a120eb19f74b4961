/** Calls operations with `fetch`, and returns typed replies or throws `ApiError`. */
import { repeat, type RetryOptions, withTimeout } from './attempts.ts';
import { ApiError } from './errors.ts';

/** Description of one operation; generated. */
export interface OperationEntry {
  readonly method: string;
  /** URL path with `{name}` for each path parameter. */
  readonly path: string;
  readonly credential: 'none' | 'token' | 'login-key';
  /** Documented success statuses, which are below 400. */
  readonly replies: readonly number[];
  readonly body?: 'json' | 'multipart';
  /** Name of the file part of a multipart body. */
  readonly part?: string;
  /** True when the operation accepts an `Idempotency-Key`, which makes retries safe. */
  readonly key?: true;
  /** Maximum time in ms in which the server replies; default 15 000. */
  readonly deadlineMs?: number;
}

export type OperationTable = Readonly<Record<string, OperationEntry>>;

export interface ClientOptions {
  /** Origin of the server, e.g. `https://coherence.example.org`, without a path. */
  readonly baseUrl: string;
  /** A shared or per-user token, or a function that returns the current one. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  /** The login gate key, which only `login` needs. */
  readonly loginKey?: string;
  /** Headers that are sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Retry policy for reads, writes with an `Idempotency-Key`, and requests that were rejected temporarily. */
  readonly retry?: RetryOptions;
  /** Timeout of one attempt in ms, including a JSON or text body. Default: the deadline of the operation plus 15 s. */
  readonly timeoutMs?: number;
  /** Function that sends requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default: `JSON.parse`, which rounds integers above 2^53; pass a lossless parser if needed. */
  readonly parseJson?: (text: string) => unknown;
}

/** Options of one call, which override those of the client. `token: null` sends no credential. */
export interface CallOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly retry?: RetryOptions;
  readonly timeoutMs?: number;
}

/** A file to upload. Streams are not buffered in memory. */
export interface Upload {
  /** File name; the extension determines the type. */
  readonly name: string;
  readonly content: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Media type of the part; default `application/octet-stream`. */
  readonly type?: string;
}

/** A response with a status below 400. */
export interface ApiReply<Status extends number, Body> {
  readonly status: Status;
  readonly headers: Headers;
  /**
   * The body as parsed JSON, text or a stream of bytes (cancel the stream if you do not read it); undefined for an
   * empty body.
   */
  readonly body: Body;
}

/** A request with a condition, e.g. an ETag. Only conditional requests can return `NotModified`. */
export interface Conditional {
  readonly headers: { readonly 'If-None-Match': string };
}

/** The data has not changed since the caller's copy. */
export type NotModified = ApiReply<304, undefined>;

/** The fields of a request, which generated types refine for each operation. */
export interface AnyRequest {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly file?: Upload;
}

const defaultDeadlineMs = 15_000;
/** Added to the deadline of the operation, for the network. */
const graceMs = 15_000;

/**
 * Calls one operation and retries it if that is safe. Generates an `Idempotency-Key` if the operation accepts one and
 * the caller sets none.
 * @throws ApiError for every status except a documented success; ApiTimeoutError or ApiConnectionError without a
 * response; the signal's reason
 */
export async function send(
  name: string,
  entry: OperationEntry,
  client: ClientOptions,
  request: AnyRequest = {},
  options: CallOptions = {},
): Promise<ApiReply<number, unknown>> {
  const headers = new Headers(client.headers);
  for (const [key, value] of Object.entries(request.headers ?? {})) if (value !== undefined) headers.set(key, String(value));
  for (const [key, value] of Object.entries(options.headers ?? {})) headers.set(key, value);
  if (entry.key === true && !headers.has(keyHeader) && !isCrossOrigin(client.baseUrl)) headers.set(keyHeader, crypto.randomUUID());
  const address = `${client.baseUrl.replace(/(?<!\/)\/+$/, '')}${buildPath(entry.path, request)}`;
  const call = client.fetch ?? fetch;

  const attempt = async (signal: AbortSignal): Promise<ApiReply<number, unknown>> => {
    await authorize(headers, entry, client, options);
    const init: RequestInit & { duplex?: 'half' } = { method: entry.method, headers, redirect: 'error', signal };
    addBody(init, headers, entry, request);
    const response = await call(address, init);
    if (!entry.replies.includes(response.status)) throw await toError(name, response, client);
    return { status: response.status, headers: response.headers, body: await readBody(response, client) };
  };
  const isSafe = entry.method === 'GET' || (entry.key === true && headers.has(keyHeader));
  const isReplayable = !(request.file?.content instanceof ReadableStream);
  const timeoutMs = options.timeoutMs ?? client.timeoutMs ?? (entry.deadlineMs ?? defaultDeadlineMs) + graceMs;
  const { signal } = options;
  return repeat(
    () => withTimeout(name, timeoutMs, signal, attempt),
    { isSafe, isReplayable },
    { ...client.retry, ...options.retry },
    signal,
  );
}

const keyHeader = 'Idempotency-Key';

/** Returns true in a page of another origin, whose preflight rejects `Idempotency-Key` unless the server allows it (D93). */
function isCrossOrigin(baseUrl: string): boolean {
  const { location } = globalThis as { location?: { readonly origin: string } };
  return location !== undefined && location.origin !== new URL(baseUrl, location.origin).origin;
}

async function authorize(headers: Headers, entry: OperationEntry, client: ClientOptions, options: CallOptions): Promise<void> {
  if (entry.credential === 'login-key' && client.loginKey !== undefined) headers.set('X-Svc-Api-Key', client.loginKey);
  if (entry.credential !== 'token' || options.token === null) return;
  const token = options.token ?? (typeof client.token === 'function' ? await client.token() : client.token);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
}

function buildPath(template: string, { path = {}, query = {} }: AnyRequest): string {
  const filled = template.replace(/\{([^{}]+)\}/g, (_all, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') throw new TypeError(`path parameter "${name}" is missing`);
    const text = String(value);
    // URL parsers resolve these segments even when escaped, so the request would reach another operation.
    if (text === '.' || text === '..') throw new TypeError(`path parameter "${name}" must not be "${text}"`);
    return encodeURIComponent(text);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function addBody(init: RequestInit & { duplex?: 'half' }, headers: Headers, entry: OperationEntry, { body, file }: AnyRequest): void {
  if (entry.body === 'json' && body !== undefined) {
    headers.set('Content-Type', 'application/json');
    init.body = JSON.stringify(body);
  }
  if (entry.body !== 'multipart' || file === undefined) return;
  const part = entry.part ?? 'file';
  if (!(file.content instanceof ReadableStream)) {
    const form = new FormData();
    form.append(part, new Blob([file.content], { type: file.type ?? 'application/octet-stream' }), file.name);
    init.body = form;
    return;
  }
  const boundary = `form-${crypto.randomUUID()}`;
  headers.set('Content-Type', `multipart/form-data; boundary=${boundary}`);
  init.body = frame(file.content, boundary, part, file);
  init.duplex = 'half';
}

/** Returns a multipart body that streams the file between the header and the end of its part. */
function frame(content: ReadableStream<Uint8Array>, boundary: string, part: string, file: Upload): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const quote = (text: string): string => text.replace(/["\r\n]/g, (sign) => encodeURIComponent(sign));
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="${quote(part)}"; filename="${quote(file.name)}"\r\n` +
    `Content-Type: ${file.type ?? 'application/octet-stream'}\r\n\r\n`;
  const edges = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    flush: (controller) => controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`)),
  });
  return content.pipeThrough(edges);
}

async function readBody(response: Response, client: ClientOptions): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204 || response.status === 304 || response.body === null) return undefined;
  if (type.startsWith('application/json')) return (client.parseJson ?? JSON.parse)(await response.text());
  return /^(?:text\/|application\/x-subrip)/.test(type) ? response.text() : response.body;
}

async function toError(name: string, response: Response, client: ClientOptions): Promise<ApiError> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = (client.parseJson ?? JSON.parse)(text);
  } catch {
    // The text is not JSON, e.g. because a proxy sent an HTML page: return it as text.
  }
  return new ApiError(name, response.status, response.headers, body);
}
