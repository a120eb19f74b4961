/**
 * Server-sent events (C1, C4, D96). Events are sent unchanged. Comments between events prevent idle timeouts. After an
 * error the last event describes the error.
 */
import type { RawReply } from '#libs/infrastructure/nats';
import { renderError } from './envelope.ts';
import type { HttpContext } from './exchange.ts';
import { enforceResponsePace } from './outgoing.ts';
import { waitForDrain } from './reply.ts';

/** Interval of comments. Proxies close idle connections after 30 to 60 seconds. */
const keepAliveMs = 15_000;

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Disables caching, and buffering by nginx and its ingress; a separate header controls the buffering.
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Responds with the events of an operation. An error within `silenceMs` is an ordinary error response; later the
 * response has started with comments, and an error is its last event (D96). Resolves when everything is sent or the
 * client has disconnected. A disconnect does not cancel the operation (C2).
 */
export async function sendEvents(
  ctx: HttpContext,
  requested: Promise<RawReply>,
  silenceMs = keepAliveMs,
): Promise<void> {
  const { res } = ctx;
  const events = new EventWriter(ctx, silenceMs);
  const isLate = await waitsLonger(requested, silenceMs);
  events.begin();
  if (isLate) events.keepAlive();
  try {
    const reply = await requested;
    ctx.state.startResponse();
    if (reply.kind === 'bytes') res.write(reply.bytes);
    else await events.send(reply.chunks);
  } catch (error) {
    events.fail(error);
  } finally {
    events.end();
  }
}

/** Returns true when the operation takes longer than `ms`. @throws the error of the operation within that time */
async function waitsLonger(requested: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => (timer = setTimeout(() => resolve(true), ms)));
  try {
    return await Promise.race([requested.then(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}

class EventWriter {
  readonly #ctx: HttpContext;
  readonly #silenceMs: number;
  #isBetweenEvents = true;
  #comments: NodeJS.Timeout | undefined;

  constructor(ctx: HttpContext, silenceMs: number) {
    this.#ctx = ctx;
    this.#silenceMs = silenceMs;
  }

  begin(): void {
    const { res } = this.#ctx;
    this.#ctx.respond = false;
    res.writeHead(200, headers);
    if (!res.destroyed) enforceResponsePace(this.#ctx, () => res.writableLength);
    this.#comments = setInterval(() => this.keepAlive(), this.#silenceMs);
  }

  keepAlive(): void {
    const { res } = this.#ctx;
    if (this.#isBetweenEvents && !res.writableNeedDrain) res.write(':\n\n');
  }

  async send(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { res } = this.#ctx;
    const iterator = chunks[Symbol.asyncIterator]();
    const release = (): void => void iterator.return?.();
    if (res.destroyed) return release();
    res.once('close', release);
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true || res.destroyed) break;
        this.#isBetweenEvents = value.at(-1) === newLine && value.at(-2) === newLine;
        this.#comments?.refresh();
        if (!res.write(value)) await waitForDrain(res);
      }
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Sends the error as the last event. An incomplete event before it is discarded, because a trailing empty line would
   * complete it.
   */
  fail(error: unknown): void {
    const { res, state } = this.#ctx;
    if (this.#isBetweenEvents) res.write(`event: error\ndata: ${renderError(state.surface, error).body}\n\n`);
  }

  end(): void {
    clearInterval(this.#comments);
    this.#ctx.res.end();
  }
}

const newLine = 10;
