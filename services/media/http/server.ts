/**
 * HTTP server for file content: creates the request context, logs one line per request and maps errors. A listener
 * provides its routes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxId } from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import {
  createHttpServer,
  endRequestSpan,
  hasBody,
  type HttpServer,
  redactPath,
  type Refusal,
  rejectMalformed,
  ByteBudget,
  startRequestSpan,
  type HttpExchange,
  unmatchedRoute,
  enforceResponsePace,
  enforceBodyPace,
} from '#libs/infrastructure/http';
import type { Logger } from '#libs/infrastructure/logger';
import type { CallContext } from '#libs/infrastructure/nats';
import { newTraceparent, readRequestId, readTraceIds, type Red } from '#libs/infrastructure/telemetry';
import { answerPace, bodyPace, type PaceRule } from '#libs/infrastructure/transfer';
import { ClientDisconnected } from './multipart.ts';
import { sendErrorAndClose, sendError, UnverifiedCaller } from './replies.ts';

/** One request with its context. After authentication, the context contains the actor. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: CallContext;
  /** The client's `Idempotency-Key` (I1). */
  readonly idempotencyKey: string | undefined;
  /** Starts to enforce the minimum transfer rate of the client; call it before a long response (D62). */
  readonly startPaceCheck: () => void;
}

/** Routes of one server. */
export interface Listener {
  /** Name of the setting that contains the port, for messages. */
  readonly portName: string;
  /** Paths, with their templates for metrics and traces, and the API surface that determines their error envelope. */
  readonly paths: readonly { readonly pattern: RegExp; readonly template: string; readonly surface: 'api' | 'v1' }[];
  /** Serves one request. @throws AppError */
  serve(exchange: Exchange, path: string, query: URLSearchParams): Promise<void>;
}

/** Minimum transfer rates of request bodies and responses (D62). */
export interface PaceRules {
  readonly body: PaceRule;
  readonly answer: PaceRule;
}

/**
 * The gateway enforces stricter rules for its clients. These rules apply to other senders, and to connections of a
 * gateway that is lost.
 */
export const defaultPaceRules: PaceRules = {
  body: { ...bodyPace, graceMs: 20_000, windowMs: 20_000 },
  answer: answerPace,
};

export interface ServerDependencies {
  logger: Logger;
  /** Metrics of rate, errors and duration by method and route template. */
  requests: Red;
  /** Counts rejected requests. */
  refused: (reason: Refusal) => void;
  paceRules: PaceRules;
}

/** Maximum number of connections; each idle connection uses 11 KiB. */
const maxConnections = 4_000;
/** Maximum number of unsent response bytes of all connections of one port together. */
const maxWaitingAnswerBytes = 64 * 1_048_576;
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT']);
/** Status that nginx uses for a client that disconnected before the response. */
const clientClosedStatus = 499;

export function createMediaServer(listener: Listener, deps: ServerDependencies): HttpServer {
  const { refused, paceRules } = deps;
  const answers = new ByteBudget(maxWaitingAnswerBytes);
  const handle = (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const transfer = {
      req,
      res,
      state: { startedAt: performance.now(), countRefusal: refused, responseBudget: answers },
    };
    if (hasBody(req)) rejectSlowBody(transfer, paceRules.body);
    return handleRequest(transfer, listener, deps);
  };
  return createHttpServer(handle, { portName: listener.portName, maxConnections, refused });
}

/** Responds with 408 to a body that arrives too slowly. */
function rejectSlowBody(transfer: HttpExchange, pace: PaceRule): void {
  const { req, res } = transfer;
  const onSlow = (error: AppError): void => {
    if (res.headersSent) req.destroy();
    else sendErrorAndClose(req, res, error);
  };
  const stop = enforceBodyPace(transfer, onSlow, pace);
  req.once('end', stop);
  res.once('close', stop);
}

/** Never rejects. */
async function handleRequest(
  transfer: HttpExchange,
  listener: Listener,
  { logger, requests, paceRules }: ServerDependencies,
): Promise<void> {
  const { req: request, res: response, state } = transfer;
  const requestId = readRequestId(request.headers['request-id']);
  const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
  const known = listener.paths.find(({ pattern }) => pattern.test(path));
  const parent = readHeader(request, 'traceparent');
  const span = startRequestSpan(request, path, requestId);
  const traceparent = span?.traceparent ?? newTraceparent(parent);
  const ids = { requestId, ...readTraceIds(traceparent) };
  response.setHeader('request-id', requestId);
  response.setHeader('x-content-type-options', 'nosniff');
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : clientClosedStatus;
    const durationMs = performance.now() - state.startedAt;
    const { method = '' } = request;
    const route = known?.template ?? unmatchedRoute;
    requests.observe(
      { method: knownMethods.has(method) ? method : 'other', route },
      status,
      durationMs / 1000,
      traceparent,
    );
    logger.info({ ...ids, method, path: redactPath(path), status, durationMs: Math.round(durationMs) }, 'request');
    endRequestSpan(span, method, route, status);
  });
  // Without a listener, a broken connection would end the process. Readers and writers of the streams receive the error
  // themselves.
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  try {
    rejectMalformed(transfer);
    const context = readContext(request, requestId, traceparent);
    const startPaceCheck = (): void => enforceResponsePace(transfer, () => response.writableLength, paceRules.answer);
    const exchange = {
      request,
      response,
      context,
      idempotencyKey: readHeader(request, 'idempotency-key'),
      startPaceCheck,
    };
    const work = (): Promise<void> => listener.serve(exchange, path, new URLSearchParams(search));
    await (span === undefined ? work() : span.run(work));
  } catch (error) {
    if (error instanceof ClientDisconnected) return;
    // Only errors that clients can see use the envelope of the API surface.
    if (error instanceof UnverifiedCaller)
      return sendErrorAndClose(request, response, error, error.code === 'unavailable' ? known?.surface : undefined);
    if (!(error instanceof AppError) || error.code === 'internal')
      logger.error({ err: error, ...ids }, 'request failed');
    else if (error.status >= 500) logger.warn({ err: error, ...ids }, 'request failed');
    // A started response is destroyed, so that the client recognises it as incomplete.
    if (response.headersSent) response.destroy();
    else await sendError(request, response, error, known?.surface ?? 'api');
  }
}

/** Returns the id. @throws AppError 404 for an id out of range */
export function requireId(text: string | undefined): number {
  const id = Number(text);
  if (Number.isNaN(id) || id > maxId) throw notFound();
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
