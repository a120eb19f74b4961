/**
 * Bytes between client and media service: streamed both ways with back-pressure, nothing kept, aborts passed on
 * (architecture#bytes). The media service writes the answers, error envelopes included.
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
import type { ActorSigner } from '#libs/actor';
import { AppError, unavailable } from '#libs/errors';
import { type HttpContext, awaitsContinue, type RouteHandler, enforceResponsePace, enforceBodyPace } from '#libs/http';
import type { Logger } from '#libs/logger';
import type { CallContext } from '#libs/nats';
import { readTraceIds } from '#libs/telemetry';
import { countTransferred, copyStream } from '#libs/transfer';

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
/** What a credential was needed for is kept nowhere (D73), whatever the media service says of the file. */
const publicHeaders = [...responseHeaders, 'cache-control'];
/** Time for the rest of an upload that was answered before its end. */
const uploadDrainTimeoutMs = 30_000;

/** Handler that passes the request to the path that the route's `forwardTo` names. */
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
    // A request without a credential may only have what needs none; that has a port of its own.
    const base = call.actor === undefined ? bases.open : bases.internal;
    const vouched = call.actor === undefined ? undefined : options.actors.encodeFor(call.actor, ctx.method, path);
    const target: RequestOptions = {
      host: base.hostname,
      port: base.port === '' ? 80 : Number(base.port),
      method: ctx.method,
      path,
      headers: { ...pick(ctx.req.headers, requestHeaders), ...toHeaders(call, vouched) },
      // A kept connection may die under a request; a read is asked again, an upload gets a connection of its own.
      agent: upload ? false : agent,
    };
    // How many uploads run at the same time is bounded by the media service.
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
      // The response has started, so it cannot become an error; the connection is closed, so that it does not look
      // complete.
      if (!res.destroyed) res.destroy();
      options.logger.debug(
        { err: error, requestId: call.requestId, ...readTraceIds(call.traceparent) },
        'transfer broken off',
      );
    }
  };
  return Object.assign(handler, { close: () => agent.destroy() });
}

/** It is the gateway that the media service does not believe, not the client. */
function notBelieved(answer: IncomingMessage): AppError {
  answer.destroy();
  return new AppError({ code: 'internal', message: 'Internal error' });
}

/**
 * The answer may come before the upload's end. The response is then ended only after the rest has passed by, or some
 * time: a connection closed while the client still sends would be reset, and the client would never read the answer.
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
 * Resolves with the answer's head, which may come before the upload's end; the rest of the body is read all the same.
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
    // Also when the media service has answered early and the connection to it is gone: the rest must pass by all the
    // same.
    upstream.once('close', () => {
      req.unpipe(upstream);
      req.resume();
    });
    const send = (): void => {
      req.on('data', (chunk: Buffer) => countTransferred(chunk.byteLength));
      req.pipe(upstream);
    };
    // What the client holds back until it is wanted, the media service may not want (D107).
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

/** The other side had closed a kept connection before it saw the request. */
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

/** The head of the answer must be there by the deadline; the bytes may take longer. */
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

/** As on NATS (architecture#rpc). */
function toHeaders(call: CallContext, vouched: string | undefined): Record<string, string> {
  return {
    'Request-Id': call.requestId,
    ...(vouched === undefined ? {} : { Actor: vouched }),
    ...(call.deadlineMs === undefined ? {} : { Deadline: String(call.deadlineMs) }),
    ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
    ...(call.sentIdempotencyKey === undefined ? {} : { 'Idempotency-Key': call.sentIdempotencyKey }),
  };
}
