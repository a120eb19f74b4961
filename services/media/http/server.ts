/** An HTTP server for bytes: request context, one log line per request, one mapper of errors. What it serves is its listener's. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AppError, notFound } from '#libs/errors';
import { type DrainOptions, listen, prepareDrain } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import type { CallContext } from '#libs/nats';
import { getTracer, newRequestId, newTraceparent, readTraceId, type Red } from '#libs/telemetry';
import { ClientGone } from './multipart.ts';
import { sendError, sendUnauthenticated, Unauthenticated } from './replies.ts';

/** One request with what its headers say of it; the actor is added by whoever believes it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: CallContext;
}

/** What one server serves. */
export interface Listener {
  /** Setting of its port, for messages. */
  readonly portName: string;
  /** Paths with the templates that metrics and traces call them by, and the surface whose errors they answer with. */
  readonly paths: readonly { readonly pattern: RegExp; readonly template: string; readonly surface: 'api' | 'v1' }[];
  /** @throws AppError */
  serve(exchange: Exchange, path: string, query: URLSearchParams): Promise<void>;
}

export interface ServerDependencies {
  logger: Logger;
  /** Rate, errors and duration by method and route template. */
  requests: Red;
}

export interface MediaServer {
  /** Resolves with the port really used. @throws Error when it is taken. */
  listen(at: { host: string; port: number }): Promise<number>;
  /** Ends it as `prepareDrain` of libs/lifecycle says. */
  drain(options: DrainOptions): Promise<void>;
}

/** Time without a byte in either direction after which a connection is given up. */
const idleTimeoutMs = 120_000;
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT']);
/** nginx's word for a client that went away before the answer. */
const clientGoneStatus = 499;

export function createMediaServer(listener: Listener, deps: ServerDependencies): MediaServer {
  const server: Server = createServer(
    { requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 65_000, noDelay: true },
    (request, response) => {
      void answer(listener, deps, request, response);
    },
  );
  server.timeout = idleTimeoutMs;
  const drain = prepareDrain(server);
  return {
    listen: (at) => listen(server, { ...at, portName: listener.portName }),
    drain,
  };
}

/** Never rejects. */
async function answer(
  listener: Listener,
  { logger, requests }: ServerDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = readHeader(request, 'request-id') ?? newRequestId();
  const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
  const known = listener.paths.find(({ pattern }) => pattern.test(path));
  const parent = readHeader(request, 'traceparent');
  const span = getTracer()?.start(request.method ?? '', 'server', { 'request.id': requestId }, parent);
  const traceparent = span?.traceparent ?? newTraceparent(parent);
  const traceId = readTraceId(traceparent);
  response.setHeader('request-id', requestId);
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : clientGoneStatus;
    const durationMs = performance.now() - startedAt;
    const { method = '' } = request;
    const route = known?.template ?? 'unmatched';
    requests.observe({ method: knownMethods.has(method) ? method : 'other', route }, status, durationMs / 1000);
    logger.info({ requestId, traceId, method, path, status, durationMs: Math.round(durationMs) }, 'request');
    span?.end({
      name: `${method} ${route}`,
      attributes: { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
      error: status >= 500 ? String(status) : undefined,
    });
  });
  // Without a listener a broken connection would end the process; whoever reads or writes sees it himself.
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  try {
    const context = readContext(request, requestId, traceparent);
    const work = (): Promise<void> => listener.serve({ request, response, context }, path, new URLSearchParams(search));
    await (span === undefined ? work() : span.run(work));
  } catch (error) {
    if (error instanceof ClientGone) return;
    if (error instanceof Unauthenticated) return sendUnauthenticated(request, response, error);
    if (!(error instanceof AppError) || error.code === 'internal') logger.error({ err: error, requestId, traceId }, 'request failed');
    else if (error.status >= 500) logger.warn({ err: error, requestId, traceId }, 'request failed');
    // An answer that has begun is broken, so that it cannot pass for a complete one.
    if (response.headersSent) response.destroy();
    else await sendError(request, response, error, known?.surface ?? 'api');
  }
}

/** @throws AppError 404 for an id that nobody can have. */
export function requireId(text: string | undefined): number {
  const id = Number(text);
  if (Number.isNaN(id) || id > 2_147_483_647) throw notFound();
  return id;
}

export function methodNotAllowed(): AppError {
  return new AppError({ code: 'method_not_allowed', message: 'Method not allowed' });
}

function readContext(request: IncomingMessage, requestId: string, traceparent: string): CallContext {
  const deadlineMs = Number(readHeader(request, 'deadline'));
  return { requestId, traceparent, ...(Number.isSafeInteger(deadlineMs) && deadlineMs > 0 ? { deadlineMs } : {}) };
}

export function readHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
