/** Sending the operations of the table over fetch: parameters in, typed replies and `ApiError` out. */
import { repeat, type RetryOptions, withTimeout } from './attempts.ts';
import { ApiError } from './errors.ts';

/** How to call one operation; entries are generated. */
export interface OperationEntry {
  readonly method: string;
  /** Template with `{name}` for path parameters. */
  readonly path: string;
  readonly credential: 'none' | 'token' | 'login-key';
  /** Statuses below 400 that the operation documents. */
  readonly replies: readonly number[];
  readonly body?: 'json' | 'multipart';
  /** Name of the file part of a multipart body. */
  readonly part?: string;
  /** Takes an `Idempotency-Key`, under which a repetition changes nothing. */
  readonly key?: true;
  /** Time that the server gives itself; default 15 000. */
  readonly deadlineMs?: number;
}

export type OperationTable = Readonly<Record<string, OperationEntry>>;

export interface ClientOptions {
  /** Origin of the server, e.g. `https://coherence.example.org`, without a path. */
  readonly baseUrl: string;
  /** The shared token or a per-user token, or a function that knows the present one. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  /** The login gate key; only `login` needs it. */
  readonly loginKey?: string;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Calls are repeated where that changes nothing: reads, writes under an `Idempotency-Key`, and what was refused for now. */
  readonly retry?: RetryOptions;
  /** Time for one attempt, the body of a JSON or text reply included; default: what the server gives itself and 15 s. */
  readonly timeoutMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default: `JSON.parse`, which rounds integers above 2^53; pass a lossless parser to keep them. */
  readonly parseJson?: (text: string) => unknown;
}

/** Per call; each wins over the client's own. `token: null` sends no credential. */
export interface CallOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly retry?: RetryOptions;
  readonly timeoutMs?: number;
}

/** A file to upload. A stream is sent as it comes, without being held in memory. */
export interface Upload {
  /** File name; its extension says what it is. */
  readonly name: string;
  readonly content: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Media type of the part; default `application/octet-stream`. */
  readonly type?: string;
}

/** An answer below 400. */
export interface ApiReply<Status extends number, Body> {
  readonly status: Status;
  readonly headers: Headers;
  /** Parsed JSON, text, a stream of bytes (cancel it when you do not read it), or undefined where there is no body. */
  readonly body: Body;
}

/** A request that names what the caller holds; only it can be answered with `NotModified`. */
export interface Conditional {
  readonly headers: { readonly 'If-None-Match': string };
}

/** The caller's representation is the present one. */
export type NotModified = ApiReply<304, undefined>;

/** The groups of a request, as the generated types fill them in. */
export interface AnyRequest {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly file?: Upload;
}

const defaultDeadlineMs = 15_000;
/** For the way there and back. */
const graceMs = 15_000;

/**
 * Calls one operation, again where that is safe. An operation that takes an `Idempotency-Key` gets one when the caller has given none.
 * @throws ApiError for an answer that is no documented success; ApiTimeoutError, ApiConnectionError when none arrives; the signal's reason
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
  if (entry.key === true && !headers.has(keyHeader)) headers.set(keyHeader, crypto.randomUUID());
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
  const isSafe = entry.method === 'GET' || entry.key === true;
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
    // No way to write them keeps these as they are: the address would be that of another operation.
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

/** The stream between the head and the end of its part. */
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
    // Not from the platform itself, e.g. a proxy's page: the text says more than nothing.
  }
  return new ApiError(name, response.status, response.headers, body);
}
