/**
 * Answers that are written while they are made: server-sent events (C1, C4). What comes is handed on as it is; between two events comments keep
 * the line alive, and what ends the answer before its end is its last event.
 */
import type { RawReply } from '#libs/nats';
import { renderError } from './envelope.ts';
import type { HttpContext } from './exchange.ts';
import { watchAnswer } from './outgoing.ts';
import { waitForDrain } from './reply.ts';

/** Proxies end a line that is silent for a minute, some for half of it. */
const keepAliveMs = 15_000;

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // No cache keeps it, and no proxy gathers it: nginx and the ingress of that name are told by a header of theirs.
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/** Resolves when everything is sent, or the client has gone. Who has gone ends nothing: what it asked for is done (C2). */
export async function sendEvents(ctx: HttpContext, reply: RawReply, silenceMs = keepAliveMs): Promise<void> {
  const { res } = ctx;
  ctx.respond = false;
  ctx.state.beginAnswer();
  res.writeHead(200, headers);
  if (reply.kind === 'bytes') {
    res.end(reply.bytes);
    return;
  }
  const iterator = reply.chunks[Symbol.asyncIterator]();
  const leave = (): void => void iterator.return?.();
  res.once('close', leave);
  watchAnswer(ctx, () => res.writableLength);
  let isBetweenEvents = true;
  const keepAlive = setInterval(() => {
    if (isBetweenEvents && !res.writableNeedDrain) res.write(':\n\n');
  }, silenceMs);
  try {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true || res.destroyed) break;
      isBetweenEvents = value.at(-1) === newLine && value.at(-2) === newLine;
      keepAlive.refresh();
      if (!res.write(value)) await waitForDrain(res);
    }
  } catch (error) {
    // Half an event is none: an empty line would make it one.
    if (isBetweenEvents) res.write(`event: error\ndata: ${renderError(ctx.state.surface, error).body}\n\n`);
    leave();
  } finally {
    clearInterval(keepAlive);
    res.end();
  }
}

const newLine = 10;
