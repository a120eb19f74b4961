/**
 * Forwards requests to the media service and its responses to the client. Bytes are streamed in both directions with
 * back-pressure and without storing them; aborts are passed on (architecture#bytes). The media service writes the
 * responses, including error envelopes.
 */
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as startRequest,
  type RequestOptions,
} from 'node:http';
import type { ServerResponse } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import type { ActorSigner } from '#libs/infrastructure/actor';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import {
  type HttpContext,
  awaitsContinue,
  type RouteHandler,
  enforceResponsePace,
  enforceBodyPace,
} from '#libs/infrastructure/http';
import type { Logger } from '#libs/infrastructure/logger';
import type { CallContext } from '#libs/infrastructure/nats';
import { readTraceIds } from '#libs/infrastructure/telemetry';
import { countTransferred, copyStream } from '#libs/infrastructure/transfer';

const requestHeaders = [
  'expect',
  'content-type',
  'content-length',
  'range',
  'if-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'accept',
];
const responseHeaders = [
  'content-type',
  'content-length',
  'content-range',
  'content-disposition',
  'accept-ranges',
  'etag',
  'last-modified',
  'retry-after',
  'idempotent-replayed',
];
/**
 * Only public routes pass on the media service's Cache-Control. Responses that required a credential must not be cached
 * (D73).
 */
const publicHeaders = [...responseHeaders, 'cache-control'];
/** Time for the rest of an upload when the response was received before the upload ended. */
const uploadDrainTimeoutMs = 30_000;

/** Returns the handler that forwards requests to the path of the route's `forwardTo`. */
export function createMediaProxy(options: {
  openUrl: string;
  internalUrl: string;
  actors: ActorSigner;
  logger: Logger;
}): RouteHandler & { close(): void } {
  const bases = { open: new URL(options.openUrl), internal: new URL(options.internalUrl) };
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 10_000, maxFreeSockets: 64 });
  const handler: RouteHandler = async ({ ctx, route, input, call }) => {
    const upload = route.upload !== undefined;
    const path = route.forwardTo?.(input) ?? ctx.path;
    // Requests without a credential use the open port of the media service, which serves only files that require no
    // credential.
    const base = call.actor === undefined ? bases.open : bases.internal;
    const vouched = call.actor === undefined ? undefined : options.actors.encodeFor(call.actor, ctx.method, path);
    const target: RequestOptions = {
      host: base.hostname,
      port: base.port === '' ? 80 : Number(base.port),
      method: ctx.method,
      path,
      headers: { ...pick(ctx.req.headers, requestHeaders), ...toHeaders(call, vouched) },
      // A reused connection can close during a request. Reads are then repeated; uploads cannot be, so each upload uses
      // a new connection.
      agent: upload ? false : agent,
    };
    // The media service limits concurrent uploads, so uploads do not count as requests in flight.
    if (upload) ctx.state.startResponse();
    const answer = await (upload ? sendUpload(ctx, target, call) : sendRead(ctx.res, target, call));
    if (answer.statusCode === 401) throw notBelieved(answer);
    ctx.respond = false;
    const { req, res } = ctx;
    res.writeHead(
      answer.statusCode ?? 502,
      pick(answer.headers, route.auth === 'none' ? publicHeaders : responseHeaders),
    );
    ctx.state.startResponse();
    enforceResponsePace(ctx, () => res.writableLength);
    try {
      await (upload ? answerUpload(answer, req, res) : copyStream(answer, res));
    } catch (error) {
      // The response has started, so an error cannot be sent. Closing the connection shows that the response is
      // incomplete.
      if (!res.destroyed) res.destroy();
      options.logger.debug(
        { err: error, requestId: call.requestId, ...readTraceIds(call.traceparent) },
        'transfer broken off',
      );
    }
  };
  return Object.assign(handler, { close: () => agent.destroy() });
}

/** Returns an internal error: a 401 of the media service rejects the gateway, not the client. */
function notBelieved(answer: IncomingMessage): AppError {
  answer.destroy();
  return new AppError({ code: 'internal', message: 'Internal error' });
}

/**
 * The response can be complete before the upload. It is then ended only after the rest of the upload was read, or after
 * a timeout. A connection that is closed while the client still sends would be reset, and the client would not receive
 * the response.
 */
async function answerUpload(answer: IncomingMessage, req: IncomingMessage, res: ServerResponse): Promise<void> {
  await pipeline(answer, res, { end: false });
  if (!req.complete && !awaitsContinue(req)) {
    try {
      await finished(req, { writable: false, signal: AbortSignal.timeout(uploadDrainTimeoutMs) });
    } catch {
      req.destroy();
    }
  }
  res.end();
}

/**
 * Resolves with the response head, which can be received before the upload ends. The rest of the body is read in any
 * case.
 */
function sendUpload(ctx: HttpContext, target: RequestOptions, call: CallContext): Promise<IncomingMessage> {
  const { req } = ctx;
  return new Promise((resolve, reject) => {
    const upstream = startRequest(target);
    const stopWatching = enforceBodyPace(ctx, (error) => upstream.destroy(error));
    const timer = breakAtDeadline(upstream, call);
    const onClientClose = (): void => {
      if (!req.complete) upstream.destroy(new Error('the client disconnected'));
    };
    const settle = (): void => {
      stopWatching();
      clearTimeout(timer);
    };
    req.once('close', onClientClose);
    req.once('end', stopWatching);
    upstream.once('response', (answer) => {
      settle();
      resolve(answer);
    });
    upstream.on('error', (error) => {
      settle();
      req.unpipe(upstream);
      req.resume();
      reject(error instanceof AppError ? error : unavailable('The media service is not reachable', { cause: error }));
    });
    // The rest of the upload is also read when the media service has responded early and closed its connection.
    upstream.once('close', () => {
      req.unpipe(upstream);
      req.resume();
    });
    const send = (): void => {
      req.on('data', (chunk: Buffer) => countTransferred(chunk.byteLength));
      req.pipe(upstream);
    };
    // A client that waits for `100 Continue` sends the body only after the media service has requested it (D107).
    if (awaitsContinue(req)) upstream.once('continue', send).flushHeaders();
    else send();
  });
}

async function sendRead(res: ServerResponse, target: RequestOptions, call: CallContext): Promise<IncomingMessage> {
  try {
    return await sendRequest(res, target, call);
  } catch (error) {
    if (!(error instanceof StaleConnection) || res.destroyed)
      throw unavailable('The media service is not reachable', { cause: error });
  }
  try {
    return await sendRequest(res, { ...target, agent: false }, call);
  } catch (error) {
    throw unavailable('The media service is not reachable', { cause: error });
  }
}

/** The media service closed a reused connection before it received the request. */
class StaleConnection extends Error {}

function sendRequest(res: ServerResponse, target: RequestOptions, call: CallContext): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const upstream = startRequest(target);
    const timer = breakAtDeadline(upstream, call);
    const onClientClose = (): void => void upstream.destroy(new Error('the client disconnected'));
    res.once('close', onClientClose);
    upstream.once('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      res.off('close', onClientClose);
      const stale = upstream.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(stale ? new StaleConnection('stale', { cause: error }) : error);
    });
    upstream.end();
  });
}

/** Aborts the request when the response head is not received by the deadline. The body may take longer. */
function breakAtDeadline(upstream: ClientRequest, call: CallContext): NodeJS.Timeout | undefined {
  if (call.deadlineMs === undefined) return undefined;
  return setTimeout(
    () => upstream.destroy(new Error('the deadline passed')),
    Math.max(0, call.deadlineMs - Date.now()),
  );
}

function pick(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

/** Returns the headers of the call, with the same names as on NATS (architecture#rpc). */
function toHeaders(call: CallContext, vouched: string | undefined): Record<string, string> {
  return {
    'Request-Id': call.requestId,
    ...(vouched === undefined ? {} : { Actor: vouched }),
    ...(call.deadlineMs === undefined ? {} : { Deadline: String(call.deadlineMs) }),
    ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
    ...(call.sentIdempotencyKey === undefined ? {} : { 'Idempotency-Key': call.sentIdempotencyKey }),
  };
}
