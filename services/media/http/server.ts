/** The internal HTTP server: routes, request context, one log line per request, one mapper of errors. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Actor } from '#libs/contract';
import { AppError, notFound } from '#libs/errors';
import { type DrainOptions, listen, prepareDrain } from '#libs/lifecycle';
import type { Logger } from '#libs/logger';
import { ActorRefused, type ActorVerifier } from '#libs/actor';
import type { CallContext } from '#libs/nats';
import { getTracer, newRequestId, newTraceparent, readTraceId, type Red } from '#libs/telemetry';
import type { StoredFile } from '../contract.ts';
import { ClientGone } from './multipart.ts';
import { sendError } from './replies.ts';

/** One request with what its headers say of the caller. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  context: CallContext;
}

/** What is done with the bytes; `query` is that of the address. */
export interface Routes {
  uploadAudio(exchange: Exchange, conversationId: number): Promise<void>;
  downloadAudio(exchange: Exchange, conversationId: number): Promise<void>;
  /** A file of the bulk import. */
  importFile(exchange: Exchange, conversationId: number, kind: StoredFile['kind'], query: URLSearchParams): Promise<void>;
  uploadLogo(exchange: Exchange, holonId: number): Promise<void>;
  /** A file that needs no token. */
  downloadFile(exchange: Exchange, objectKey: string, query: URLSearchParams): Promise<void>;
}

export interface ServerDependencies {
  logger: Logger;
  actors: ActorVerifier;
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
const audioPath = /^\/internal\/conversations\/([1-9][0-9]{0,9})\/audio$/;
const recordingPath = /^\/internal\/conversations\/([1-9][0-9]{0,9})\/recordings\/(full|front_trimmed)$/;
const logoPath = /^\/internal\/holons\/([1-9][0-9]{0,9})\/logo$/;
const filePath = /^\/media\/([a-z]{1,40}\/[0-9]{1,10}\/[A-Za-z0-9_-]{32}\.[a-z0-9]{1,8})$/;
const templates: readonly (readonly [RegExp, string])[] = [
  [audioPath, '/internal/conversations/{id}/audio'],
  [recordingPath, '/internal/conversations/{id}/recordings/{kind}'],
  [logoPath, '/internal/holons/{id}/logo'],
  [filePath, '/media/{folder}/{owner}/{file}'],
];

export function createMediaServer(routes: Routes, deps: ServerDependencies): MediaServer {
  const server: Server = createServer(
    { requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 65_000, noDelay: true },
    (request, response) => {
      void answer(routes, deps, request, response);
    },
  );
  server.timeout = idleTimeoutMs;
  const drain = prepareDrain(server);
  return {
    listen: (at) => listen(server, { ...at, portName: 'PORT' }),
    drain,
  };
}

/** Never rejects. */
async function answer(
  routes: Routes,
  { logger, actors, requests }: ServerDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = readHeader(request, 'request-id') ?? newRequestId();
  const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
  const parent = readHeader(request, 'traceparent');
  const span = getTracer()?.start(request.method ?? '', 'server', { 'request.id': requestId }, parent);
  const traceparent = span?.traceparent ?? newTraceparent(parent);
  const traceId = readTraceId(traceparent);
  response.setHeader('request-id', requestId);
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : clientGoneStatus;
    const durationMs = performance.now() - startedAt;
    const { method = '' } = request;
    const route = templates.find(([pattern]) => pattern.test(path))?.[1] ?? 'unmatched';
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
    const work = (): Promise<void> =>
      dispatch(
        routes,
        { request, response, context: readContext(request, requestId, traceparent, readClient(actors, request, path)) },
        path,
        new URLSearchParams(search),
      );
    await (span === undefined ? work() : span.run(work));
  } catch (error) {
    if (error instanceof ClientGone) return;
    if (!(error instanceof AppError) || error.code === 'internal') logger.error({ err: error, requestId, traceId }, 'request failed');
    else if (error.status >= 500) logger.warn({ err: error, requestId, traceId }, 'request failed');
    // An answer that has begun is broken, so that it cannot pass for a complete one.
    if (response.headersSent) response.destroy();
    else await sendError(request, response, error, logoPath.test(path) ? 'v1' : 'api');
  }
}

async function dispatch(routes: Routes, exchange: Exchange, path: string, query: URLSearchParams): Promise<void> {
  const { method } = exchange.request;
  const isRead = method === 'GET' || method === 'HEAD';
  const audio = audioPath.exec(path);
  if (audio !== null) {
    const id = requireId(audio[1]);
    if (method === 'POST') return routes.uploadAudio(exchange, id);
    if (method === 'PUT') return routes.importFile(exchange, id, 'audio', query);
    if (isRead) return routes.downloadAudio(exchange, id);
    throw methodNotAllowed();
  }
  const recording = recordingPath.exec(path);
  if (recording !== null) {
    if (method !== 'PUT') throw methodNotAllowed();
    return routes.importFile(exchange, requireId(recording[1]), recording[2] === 'full' ? 'full' : 'front_trimmed', query);
  }
  const logo = logoPath.exec(path);
  if (logo !== null) {
    if (method !== 'POST') throw methodNotAllowed();
    return routes.uploadLogo(exchange, requireId(logo[1]));
  }
  const objectKey = filePath.exec(path)?.[1];
  if (objectKey === undefined) throw notFound();
  if (!isRead) throw methodNotAllowed();
  return routes.downloadFile(exchange, objectKey, query);
}

/** @throws AppError 404 for an id that nobody can have. */
function requireId(text: string | undefined): number {
  const id = Number(text);
  if (Number.isNaN(id) || id > 2_147_483_647) throw notFound();
  return id;
}

function methodNotAllowed(): AppError {
  return new AppError({ code: 'method_not_allowed', message: 'Method not allowed' });
}

/** @throws AppError unauthenticated */
function readClient(actors: ActorVerifier, request: IncomingMessage, path: string): Actor | undefined {
  const text = readHeader(request, 'actor');
  try {
    return text === undefined ? undefined : actors.readFor(text, request.method ?? '', path);
  } catch (error) {
    if (!(error instanceof ActorRefused)) throw error;
    throw new AppError({ code: 'unauthenticated', message: 'The caller cannot be verified' }, { cause: error });
  }
}

function readContext(request: IncomingMessage, requestId: string, traceparent: string, actor: Actor | undefined): CallContext {
  const deadlineMs = Number(readHeader(request, 'deadline'));
  return {
    requestId,
    actor,
    traceparent,
    ...(Number.isSafeInteger(deadlineMs) && deadlineMs > 0 ? { deadlineMs } : {}),
  };
}

function readHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
