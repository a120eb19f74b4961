/**
 * Long polls of the event feed (rules/events#feed; V3). A wait is split into short calls, so that a stopping gateway
 * returns the empty page of the current call and does not abort requests (rules/operations#promises). Credential and
 * rights are checked again between calls and before a reply (D89). Long polls do not count as requests in flight; their
 * number per account is limited (rules/http#overload).
 */
import { isDeepStrictEqual } from 'node:util';
import type { Actor, RequestOf } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import type { HttpContext } from '#libs/infrastructure/http';
import type { Bus, CallContext, RawReply } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { readFeed } from './routes/v1/events.ts';

type Request = RequestOf<typeof readFeed>;

/**
 * Much shorter than the drain time of the gateway. Together with the reply it is less than the five seconds between two
 * checks of the credential (D89).
 */
const turnSeconds = 4;
/** Maximum size of an empty page; pages with events are longer. */
const emptyBytes = 200;

export interface LongPollLimits {
  /** Maximum number of waiting requests of all accounts. */
  readonly max: number;
  readonly maxPerAccount: number;
}

export class LongPolls {
  readonly #bus: Pick<Bus, 'callRaw'>;
  readonly #limits: LongPollLimits;
  #stopping = false;
  #waiting = 0;
  readonly #accounts = new Map<number | undefined, number>();

  constructor(bus: Pick<Bus, 'callRaw'>, limits: LongPollLimits) {
    this.#bus = bus;
    this.#limits = limits;
  }

  /** Makes waiting requests return when their current call ends. */
  stop(): void {
    this.#stopping = true;
  }

  /**
   * Returns a page of the feed, and waits for events if requested. @throws AppError 429; 401 and 403 when access ends;
   * unavailable
   */
  async read(request: Request, context: CallContext, ctx: HttpContext): Promise<RawReply> {
    if ((request.wait ?? 0) === 0 || request.after === 'latest') return this.#bus.callRaw(readFeed, request, context);
    const release = this.#enter(context.actor, ctx);
    try {
      ctx.state.startResponse();
      return await this.#wait(request, context, ctx);
    } finally {
      release();
    }
  }

  #enter(actor: Actor | undefined, { state }: HttpContext): () => void {
    const account = actor?.kind === 'user' ? actor.accountId : undefined;
    const own = this.#accounts.get(account) ?? 0;
    const { max, maxPerAccount } = this.#limits;
    if (own >= maxPerAccount || this.#waiting >= max) {
      state.countRefusal('too_many_waits');
      if (own < maxPerAccount) throw unavailable('Too many requests are waiting');
      const message = `The account already has ${maxPerAccount} requests waiting for events.`;
      throw new AppError({ code: 'rate_limited', message, details: { retry_after: turnSeconds } });
    }
    this.#waiting++;
    this.#accounts.set(account, own + 1);
    return () => {
      this.#waiting--;
      const remaining = (this.#accounts.get(account) ?? 1) - 1;
      if (remaining === 0) this.#accounts.delete(account);
      else this.#accounts.set(account, remaining);
    };
  }

  async #wait(request: Request, context: CallContext, { res, state }: HttpContext): Promise<RawReply> {
    let { after } = request;
    let { actor } = context;
    for (let remaining = request.wait ?? 0; ;) {
      const wait = this.#stopping ? 0 : Math.min(remaining, turnSeconds);
      const nextRequest = { ...request, ...(after !== undefined && { after }), wait };
      const reply = await this.#bus.callRaw(readFeed, nextRequest, { ...context, actor });
      // When the client has disconnected, no further call is made.
      if (res.destroyed) return reply;
      const present = await state.authorize();
      remaining -= wait;
      const next = readNextOfEmpty(reply);
      // The page was read with outdated rights, so it is read again with the current rights.
      if (next === undefined && !isDeepStrictEqual(present, actor)) remaining = 0;
      else if (next === undefined || remaining <= 0 || this.#stopping) return reply;
      else after = next;
      actor = present;
    }
  }
}

/** Returns the cursor of an empty page; returns undefined for a page with events. */
function readNextOfEmpty(reply: RawReply): string | undefined {
  if (reply.kind !== 'bytes' || reply.bytes.byteLength > emptyBytes) return undefined;
  const { items, next } = JSON.parse(Buffer.from(reply.bytes).toString('utf8')) as { items: unknown[]; next: string };
  return items.length === 0 ? next : undefined;
}

export const { readChatUpdates } = agents.rpcs;

/**
 * Long polls of chat visitors that wait for an operator (H2). They do not count as requests in flight. When too many
 * requests wait, or the gateway is stopping, they return at once and the page polls again.
 */
export class ChatWaits {
  readonly #bus: Pick<Bus, 'callRaw'>;
  readonly #max: number;
  #waiting = 0;
  #isStopping = false;

  constructor(bus: Pick<Bus, 'callRaw'>, max: number) {
    this.#bus = bus;
    this.#max = max;
  }

  stop(): void {
    this.#isStopping = true;
  }

  async read(
    request: RequestOf<typeof readChatUpdates>,
    context: CallContext,
    { state }: HttpContext,
  ): Promise<RawReply> {
    if ((request.wait ?? 0) === 0 || this.#isStopping || this.#waiting >= this.#max)
      return await this.#bus.callRaw(readChatUpdates, { ...request, wait: 0 }, context);
    this.#waiting++;
    state.startResponse();
    try {
      return await this.#bus.callRaw(readChatUpdates, request, context);
    } finally {
      this.#waiting--;
    }
  }
}
