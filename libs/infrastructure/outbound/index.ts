/**
 * The only outbound HTTP client, for providers and for URLs that users enter. It checks the address at connect time,
 * does not follow redirects or use HTTP/2, limits time and size, and streams bodies. Its errors do not contain paths,
 * queries or tokens.
 */
import type { Agent, Dispatcher } from 'undici';
import { findTracer, type Metrics, serverAttributes, type Span } from '#libs/infrastructure/telemetry';
import { listAllowedHosts, OutboundError, type OutboundFailure } from './address.ts';
import type { AgentOptions } from './agent.ts';

export { isPublicAddress, namesHost } from './address.ts';
export { OutboundError } from './address.ts';
export type { OutboundFailure } from './address.ts';

export interface OutboundRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `http` or `https`, without credentials. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Milliseconds for the whole exchange, including the body; default 60 000. */
  timeoutMs?: number;
  /** Maximum size of the response body; default 1 MiB. */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface OutboundReply {
  /** Any status; a redirect (3xx) is returned, never followed. */
  readonly status: number;
  /** Names in lower case; values of repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The response body as it is received, with back-pressure. Read it or call `discard`.
   * @throws OutboundError `too_large`, `timeout`, `aborted`, `broken` (connection closed before the end)
   */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Returns the whole body as UTF-8 text, up to `maxBytes`.
   * @throws OutboundError like `body`
   */
  text(): Promise<string>;
  /** Drops the connection without reading the rest. */
  discard(): void;
}

export interface Outbound {
  /**
   * Sends a request and returns the response with any status.
   * @throws OutboundError without a response: forbidden address, connection failure, timeout, abort
   */
  request(request: OutboundRequest): Promise<OutboundReply>;
  /** Closes idle connections and aborts running requests. */
  close(): Promise<void>;
}

export interface OutboundOptions extends AgentOptions {
  /** Value of OUTBOUND_ALLOWED_HOSTS or WEBHOOK_ALLOWED_HOSTS: private hosts that may be reached. */
  allowedHosts: string;
  /** Configured base URLs; their hosts and ports are allowed. */
  baseUrls?: readonly (string | undefined)[];
  /** Registry for the counter `outbound_refused_total` of calls to addresses that are not public. */
  metrics?: Metrics;
}

const defaultTimeoutMs = 60_000;
const defaultMaxBytes = 1_048_576;

/**
 * Creates a client for outgoing HTTP; a process needs only one. The client loads its dependencies on the first request,
 * since many processes send none.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const allowed = listAllowedHosts(options.allowedHosts, options.baseUrls ?? []);
  let agent: Promise<Agent> | undefined;
  let isClosed = false;
  const load = async (): Promise<Agent> => {
    if (isClosed) throw new OutboundError('broken', 'the client is closed');
    return await (agent ??= import('./agent.ts').then(({ createAgent }) => createAgent(allowed, options)));
  };
  const refused = options.metrics?.counter(
    'outbound_refused_total',
    'Outgoing calls refused because the address is not public',
  );
  // Creates the series with 0. Prometheus does not see an increase in a series that starts at 1, but the first
  // rejection must raise an alert.
  refused?.inc(0);
  return {
    request: (request) =>
      send(load, request).catch((error: unknown) => {
        if (error instanceof OutboundError && error.kind === 'forbidden_address') refused?.inc();
        throw error;
      }),
    close: async () => {
      isClosed = true;
      await (await agent)?.destroy();
    },
  };
}

async function send(load: () => Promise<Agent>, request: OutboundRequest): Promise<OutboundReply> {
  const url = URL.parse(request.url);
  if (
    url === null ||
    (url.protocol !== 'https:' && url.protocol !== 'http:') ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new OutboundError('invalid_url', 'the address is not a plain http or https URL');
  }
  const deadline = AbortSignal.timeout(request.timeoutMs ?? defaultTimeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  const where = `${request.method ?? 'GET'} ${url.origin}`;
  const translate = (error: unknown): OutboundError => toOutboundError(where, error, deadline, request.signal);
  const span = startCall(url, request.method ?? 'GET');
  let response: Dispatcher.ResponseData;
  try {
    const agent = await load();
    response = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method ?? 'GET',
      headers: { ...request.headers },
      body: request.body ?? null,
      signal,
    });
    const failed = response.statusCode >= 400 ? String(response.statusCode) : undefined;
    span?.end({ attributes: { 'http.response.status_code': response.statusCode }, error: failed });
  } catch (error) {
    const failure = translate(error);
    span?.end({ error: failure.kind });
    throw failure;
  }
  const maxBytes = request.maxBytes ?? defaultMaxBytes;
  const body = limitBody(response, where, maxBytes, translate);
  return {
    status: response.statusCode,
    headers: joinHeaders(response.headers),
    body,
    text: async () => {
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
      return text + decoder.decode();
    },
    discard: () => {
      response.body.on('error', () => undefined);
      response.body.destroy();
    },
  };
}

/**
 * Starts a span. It records only the host, since paths and queries may contain tokens. The trace context is not sent to
 * external servers.
 */
function startCall(url: URL, method: string): Span | undefined {
  return findTracer()?.startChild(method, 'client', {
    'http.request.method': method,
    'url.full': url.pathname === '/' && url.search === '' ? url.href : `${url.origin}/REDACTED`,
    ...serverAttributes(url),
  });
}

async function* limitBody(
  response: Dispatcher.ResponseData,
  where: string,
  maxBytes: number,
  translate: (error: unknown) => OutboundError,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new OutboundError('too_large', `${where}: the body is larger than ${maxBytes} bytes`);
      yield chunk;
    }
  } catch (error) {
    throw translate(error);
  }
}

function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}

const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const connectCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'ENODATA',
  'ESERVFAIL',
  'EREFUSED',
  'EBADNAME',
  'ETIMEOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENETDOWN',
]);

function toOutboundError(
  where: string,
  error: unknown,
  deadline: AbortSignal,
  caller: AbortSignal | undefined,
): OutboundError {
  if (error instanceof OutboundError)
    return new OutboundError(
      error.kind,
      error.message.startsWith(where) ? error.message : `${where}: ${error.message}`,
    );
  const code = readCode(error);
  const make = (kind: OutboundFailure, what: string): OutboundError =>
    new OutboundError(kind, `${where}: ${what}`, code);
  if (caller?.aborted === true) return make('aborted', 'aborted');
  if (deadline.aborted) return make('timeout', 'no complete answer in time');
  if (code === undefined) return make('broken', 'the exchange failed');
  if (timeoutCodes.has(code)) return make('timeout', `time-out (${code})`);
  if (connectCodes.has(code)) return make('connect', `no connection (${code})`);
  return make('broken', `the exchange failed (${code})`);
}

function readCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? readCode(error.errors[0]) : undefined;
}
