/** Bodies while they arrive: how fast they must come, and what becomes of the rest of one that was answered before its end (D62, D77). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '#libs/errors';
import { bodyPace, type Look, lookRegularly, Pace, type PaceRule } from '#libs/transfer';
import type { HttpContext, HttpExchange } from './exchange.ts';

/** Time for the rest of a body whose request was answered; a connection closed at once would be reset, and the answer lost. */
const lingerMs = 30_000;

/** The client went away in the middle of its request; nobody is there to be answered, and nothing is wrong here. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away before the end of its request');
    this.name = 'ClientDisconnected';
  }
}

/** False for requests that can have no body by their headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** True until the client is told to send the body, which it holds back (`Expect: 100-continue`). */
export function awaitsContinue({ headers }: IncomingMessage): boolean {
  return headers.expect !== undefined;
}

/** Tells the client to send its body with the first attempt to read it. What is answered without reading it ends the connection (D107). */
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
 * Calls `onSlow` once when the body comes slower than it may. The body must be about to be read. The returned function ends the watch,
 * and must be called when the body is there.
 */
export function enforceBodyPace(ctx: HttpExchange, onSlow: (error: AppError) => void, rule = bodyPace): () => void {
  const give = (): void => {
    stop();
    onSlow(bodyTimeout(ctx, 'body_too_slow'));
  };
  const stop = lookRegularly(watchPace(ctx, give, rule));
  return stop;
}

/** 408; the connection is closed with the answer. */
export function bodyTimeout({ res, state }: HttpExchange, reason: 'body_too_slow' | 'body_too_late'): AppError {
  state.countRefusal(reason);
  if (!res.headersSent) res.setHeader('Connection', 'close');
  return new AppError({ code: 'request_timeout', message: 'The request body did not arrive in time' });
}

/** The rest of the body of a request passes by behind its answer, at its pace and for a while; then the connection is cut. */
export function drainRequest(ctx: HttpContext): void {
  const { req } = ctx;
  if (req.complete || req.destroyed || !hasBody(req) || awaitsContinue(req)) return;
  const { socket } = req;
  const answeredAt = performance.now();
  const look = watchPace(ctx, () => socket.destroy(), bodyPace);
  // A body that was late has had its time.
  if (ctx.status !== 408) req.once('end', deferEnd(ctx));
  req.resume();
  const stop = lookRegularly((nowMs, isLate) => {
    if (req.complete || socket.destroyed) return stop();
    if (nowMs - answeredAt > lingerMs) socket.destroy();
    else look(nowMs, isLate);
  });
}

/**
 * Lets an answer be written and not ended until the returned function is called: with the end of the last answer of a connection node closes it,
 * whatever is still arriving. Its length tells the client that it is whole.
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

function watchPace({ req, state }: HttpExchange, onSlow: () => void, rule: PaceRule): Look {
  const { socket } = req;
  const pace = new Pace(rule, state.startedAt);
  const before = socket.bytesRead;
  return (nowMs, isLate) => {
    const isHeld = isLate || req.isPaused() || req.readableLength > 0;
    if (pace.isSlow(nowMs, socket.bytesRead - before, isHeld)) onSlow();
  };
}
