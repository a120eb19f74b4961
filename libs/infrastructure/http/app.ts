/**
 * The HTTP edge as one koa middleware: request id, surface, CORS, one error mapper, one log line and one metric
 * observation per request. All other behaviour belongs to routes.
 */
import Koa, { type Next } from 'koa';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import type { Logger } from '#libs/infrastructure/logger';
import { newTraceparent, readRequestId, readTraceIds } from '#libs/infrastructure/telemetry';
import { endRequestSpan, startRequestSpan, unmatchedRoute } from './exchange-span.ts';
import { renderError } from './envelope.ts';
import { type ExchangeState, findSurface, type HttpContext, type Refusal, redactPath } from './exchange.ts';
import { normalizeTarget, rejectMalformed } from './malformed.ts';
import { ClientDisconnected, drainRequest } from './incoming.ts';
import { ByteBudget } from './byte-budget.ts';

const allowedMethods = 'GET, POST, PUT, PATCH, OPTIONS';
/** Response headers that scripts may read, in addition to those that browsers always allow. */
const exposedHeaders =
  'ETag, X-Request-Id, Retry-After, X-Api-Version, Deprecation, Idempotent-Replayed, Link, X-Total-Count';
/** Time in seconds for which browsers cache the preflight response. */
const maxAgeSeconds = '600';

export interface CorsOptions {
  /** `*` allows every origin. */
  readonly origins: readonly string[];
  /** Allowed request headers; undefined = those of the contract. */
  readonly headers?: readonly string[] | undefined;
}

const contractHeaders = ['Authorization', 'Content-Type'] as const;

/** Adds CORS headers for an allowed origin. */
export function createCors(allowed: CorsOptions): (ctx: HttpContext) => void {
  const origins = new Set(allowed.origins);
  const any = origins.has('*');
  const allowedHeaders = joinHeaders([...contractHeaders, ...(allowed.headers ?? [])]);
  return ({ req, res }) => {
    if (any) res.setHeader('Access-Control-Allow-Origin', '*');
    else res.setHeader('Vary', 'Origin');
    const origin = req.headers.origin;
    if (!any) {
      if (origin === undefined || !origins.has(origin)) return;
      res.setHeader('Access-Control-Allow-Origin', origin);
    }
    res.setHeader('Access-Control-Allow-Methods', allowedMethods);
    res.setHeader('Access-Control-Allow-Headers', allowedHeaders);
    res.setHeader('Access-Control-Expose-Headers', exposedHeaders);
    res.setHeader('Access-Control-Max-Age', maxAgeSeconds);
  };
}

/** Joins header names without duplicates, ignoring case. */
function joinHeaders(names: readonly string[]): string {
  const written = names.map((name) => name.toLowerCase());
  return names.filter((_name, index) => written.indexOf(written[index] ?? '') === index).join(', ');
}

/** Returns true for a CORS preflight request; it is answered before routing and authentication. */
export function isPreflight({ req, method }: HttpContext): boolean {
  return (
    method === 'OPTIONS' &&
    req.headers.origin !== undefined &&
    req.headers['access-control-request-method'] !== undefined
  );
}

export interface AppOptions {
  logger: Logger;
  /** Value of `X-Api-Version` on every response of `/api/*`. */
  apiVersion: string;
  corsAllowedOrigins: readonly string[];
  /** Request headers allowed for cross-origin calls besides those of the contract. */
  corsAllowedHeaders?: readonly string[];
  /** Number of trusted proxies that append to `X-Forwarded-For`; 0 = use the socket address. */
  trustedProxyHops: number;
  /** Called once per request after the response is sent or aborted; `route` is a template. */
  observe?: (observation: {
    method: string;
    route: string;
    status: number;
    seconds: number;
    traceparent: string;
  }) => void;
  /** Called when a guard rejects a request or closes a connection. */
  refused?: (reason: Refusal) => void;
}

export type HttpApp = Koa<ExchangeState>;

/** nginx's status code for a client that disconnected before the response. */
const clientClosedStatus = 499;
/** Limit of response bytes that clients have not read yet, for all clients together. */
const maxWaitingAnswerBytes = 64 * 1_048_576;
const ignore = (): void => undefined;
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Creates the koa application with the middleware of the HTTP edge. `mountRoutes` adds routes; without them every path
 * returns 404.
 */
export function createApp(options: AppOptions): HttpApp {
  const app: HttpApp = new Koa<ExchangeState>();
  const addCors = createCors({ origins: options.corsAllowedOrigins, headers: options.corsAllowedHeaders });
  const { logger, refused = ignore } = options;
  const answers = new ByteBudget(maxWaitingAnswerBytes);

  app.use(async (ctx: HttpContext, next: Next) => {
    const { req, res } = ctx;
    const hasTarget = normalizeTarget(req);
    const path = ctx.path;
    const requestId = readRequestId(req.headers['x-request-id']);
    const surface = findSurface(path);
    const parent = req.headers['traceparent'] as string | undefined;
    const span = startRequestSpan(req, path, requestId);
    const state: ExchangeState = {
      requestId,
      surface,
      startedAt: performance.now(),
      route: unmatchedRoute,
      isWritten: false,
      actor: undefined,
      isFromConsole: false,
      traceparent: span?.traceparent ?? newTraceparent(parent),
      trustedProxyHops: options.trustedProxyHops,
      authorize: () => Promise.resolve(undefined),
      countRefusal: refused,
      startResponse: ignore,
      responseBudget: answers,
    };
    ctx.state = state;
    res.once('close', () => {
      const seconds = (performance.now() - state.startedAt) / 1000;
      const status = res.writableFinished || state.isWritten ? res.statusCode : clientClosedStatus;
      const { route, actor } = state;
      options.observe?.({
        method: knownMethods.has(ctx.method) ? ctx.method : 'other',
        route,
        status,
        seconds,
        traceparent: state.traceparent,
      });
      if (logger.isLevelEnabled('info')) {
        const ids = readTraceIds(state.traceparent);
        const user = actor?.kind === 'user' ? actor : undefined;
        const caller = { accountId: user?.accountId, keyId: user?.key?.id };
        const durationMs = Math.round(seconds * 1e5) / 100;
        logger.info(
          { requestId, ...ids, method: ctx.method, path: redactPath(path), route, status, ...caller, durationMs },
          'request',
        );
      }
      endRequestSpan(span, ctx.method, route, status);
    });
    res.setHeader('X-Request-Id', requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (surface !== 'other') res.setHeader('X-Api-Version', options.apiVersion);
    if (surface === 'api') addCors(ctx);
    try {
      rejectMalformed(ctx);
      if (!hasTarget) throw badRequest('The request target must be a path or an http address');
      if (surface === 'api' && isPreflight(ctx)) {
        state.route = 'preflight';
        ctx.status = 204;
        return;
      }
      await (span === undefined ? next() : span.run(next));
    } catch (error) {
      answerError(ctx, error, logger);
    }
    drainRequest(ctx);
  });
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (!hasClientClosed(error)) logger.error({ err: error }, 'answer could not be sent');
  });
  return app;
}

/**
 * Responds with the surface's error envelope. Once a response has started, the connection is closed instead, so that
 * the response does not look complete.
 */
function answerError(ctx: HttpContext, error: unknown, logger: Logger): void {
  const { res, state } = ctx;
  // The service has logged its unexpected error under the same request id.
  if (!(error instanceof AppError || error instanceof ClientDisconnected)) {
    logger.error(
      { err: error, requestId: state.requestId, ...readTraceIds(state.traceparent), route: state.route },
      'request failed',
    );
  }
  if (res.headersSent || res.destroyed) {
    ctx.respond = false;
    res.destroy();
    return;
  }
  const answer = renderError(state.surface, error);
  ctx.respond = true;
  for (const name of ['Content-Type', 'Content-Disposition', 'Content-Encoding', 'Content-Length', 'ETag'])
    res.removeHeader(name);
  // Caching rules of the successful response do not apply to errors.
  res.setHeader('Cache-Control', 'no-store');
  ctx.status = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  res.setHeader('Content-Type', 'application/json');
  ctx.body = answer.body;
}

/** The last middleware, for requests that match no route. */
export function respondNotFound(): never {
  throw notFound();
}

function hasClientClosed(error: NodeJS.ErrnoException): boolean {
  return (
    error.code === 'ECONNRESET' ||
    error.code === 'EPIPE' ||
    error.code === 'ERR_STREAM_PREMATURE_CLOSE' ||
    error.code === 'ECANCELED'
  );
}
