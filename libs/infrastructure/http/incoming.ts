/** Receiving request bodies: the minimum pace, and draining the rest of a body after the response (D62, D77). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '#libs/infrastructure/errors';
import { bodyPace, type Poll, pollRegularly, Pace, type PaceRule } from '#libs/infrastructure/transfer';
import type { HttpContext, HttpExchange } from './exchange.ts';

/**
 * Time to drain the rest of a body after the response. Closing the connection earlier would reset it and could lose the
 * response.
 */
const drainMs = 30_000;

/**
 * The client disconnected during its request. The server cannot send a response, and the disconnect does not count as a
 * server error.
 */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away before the end of its request');
    this.name = 'ClientDisconnected';
  }
}

/** Returns false when the headers indicate that the request does not have a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Returns true while the client waits for `100 Continue` before it sends the body (`Expect: 100-continue`). */
export function awaitsContinue({ headers }: IncomingMessage): boolean {
  return headers.expect !== undefined;
}

/**
 * Sends `100 Continue` when the body is first read. If the response is sent without reading the body, the connection is
 * closed (D107).
 */
export function sendContinueOnRead(req: IncomingMessage, res: ServerResponse): void {
  const { shouldKeepAlive } = res;
  res.shouldKeepAlive = false;
  req.once('resume', () => {
    if (res.headersSent) return;
    delete req.headers.expect;
    res.shouldKeepAlive = shouldKeepAlive;
    res.writeContinue();
  });
}

/**
 * Calls `onSlow` once when the body arrives below the minimum pace. Call this function right before reading the body,
 * and the returned function when the body is complete.
 */
export function enforceBodyPace(ctx: HttpExchange, onSlow: (error: AppError) => void, rule = bodyPace): () => void {
  const give = (): void => {
    stop();
    onSlow(bodyTimeout(ctx, 'body_too_slow'));
  };
  const stop = pollRegularly(watchPace(ctx, give, rule));
  return stop;
}

/** Returns a 408 error and lets the response close the connection. */
export function bodyTimeout({ res, state }: HttpExchange, reason: 'body_too_slow' | 'body_too_late'): AppError {
  state.countRefusal(reason);
  if (!res.headersSent) res.setHeader('Connection', 'close');
  return new AppError({ code: 'request_timeout', message: 'The request body did not arrive in time' });
}

/**
 * Discards the rest of a body after the response. The connection is closed when the body arrives below the minimum pace
 * or exceeds the time limit.
 */
export function drainRequest(ctx: HttpContext): void {
  const { req } = ctx;
  if (req.complete || req.destroyed || !hasBody(req) || awaitsContinue(req)) return;
  const { socket } = req;
  const answeredAt = performance.now();
  const poll = watchPace(ctx, () => socket.destroy(), bodyPace);
  // After a 408 response the body does not get more time.
  if (ctx.status !== 408) req.once('end', deferEnd(ctx));
  req.resume();
  const stop = pollRegularly((nowMs, isLate) => {
    if (req.complete || socket.destroyed) return stop();
    if (nowMs - answeredAt > drainMs) socket.destroy();
    else poll(nowMs, isLate);
  });
}

/**
 * Delays `res.end` until the returned function is called. Otherwise node would close the connection at the end of its
 * last response, although the body is still arriving. The length tells the client that the response is complete.
 */
function deferEnd({ res, state }: HttpContext): () => void {
  if (res.writableEnded) return () => undefined;
  const hold = (chunk?: string | Uint8Array): ServerResponse => {
    state.isWritten = true;
    if (chunk === undefined) res.flushHeaders();
    else res.write(chunk);
    return res;
  };
  Object.assign(res, { end: hold });
  return () => {
    Reflect.deleteProperty(res, 'end');
    if (state.isWritten) res.end();
  };
}

function watchPace({ req, state }: HttpExchange, onSlow: () => void, rule: PaceRule): Poll {
  const { socket } = req;
  const pace = new Pace(rule, state.startedAt);
  const before = socket.bytesRead;
  return (nowMs, isLate) => {
    const isHeld = isLate || req.isPaused() || req.readableLength > 0;
    if (pace.isSlow(nowMs, socket.bytesRead - before, isHeld)) onSlow();
  };
}
