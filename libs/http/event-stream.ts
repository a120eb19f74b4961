/**
 * Answers that are written while they are made: server-sent events (C1, C4, D96). What comes is handed on as it is; between two events comments keep
 * the line alive, and what ends the answer before its end is its last event.
 */
import type { RawReply } from '#libs/nats';
import { renderError } from './envelope.ts';
import type { HttpContext } from './exchange.ts';
import { enforceResponsePace } from './outgoing.ts';
import { waitForDrain } from './reply.ts';

/** Proxies end a line that is silent for a minute, some for half of it. */
const keepAliveMs = 15_000;

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // No cache keeps it, and no proxy gathers it: nginx and the ingress of that name are told by a header of theirs.
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Answers with the events of an operation. A failure within `silenceMs` is an ordinary error answer; after that the answer begins without an event, with
 * comments, and a failure is its last event (D96).
 * Resolves when everything is sent, or the client has gone. Who has gone ends nothing: what it asked for is done (C2).
 */
export async function sendEvents(ctx: HttpContext, asked: Promise<RawReply>, silenceMs = keepAliveMs): Promise<void> {
  const { res } = ctx;
  const events = new EventWriter(ctx, silenceMs);
  const isLate = await waitsLonger(asked, silenceMs);
  events.begin();
  if (isLate) events.keepAlive();
  try {
    const reply = await asked;
    ctx.state.beginResponse();
    if (reply.kind === 'bytes') res.write(reply.bytes);
    else await events.send(reply.chunks);
  } catch (error) {
    events.fail(error);
  } finally {
    events.end();
  }
}

/** @throws what is asked for failed with in that time. */
async function waitsLonger(asked: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => (timer = setTimeout(() => resolve(true), ms)));
  try {
    return await Promise.race([asked.then(() => false), late]);
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
    const leave = (): void => void iterator.return?.();
    if (res.destroyed) return leave();
    res.once('close', leave);
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true || res.destroyed) break;
        this.#isBetweenEvents = value.at(-1) === newLine && value.at(-2) === newLine;
        this.#comments?.refresh();
        if (!res.write(value)) await waitForDrain(res);
      }
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Half an event is none: an empty line would make it one. */
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
