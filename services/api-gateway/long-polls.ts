/**
 * Requests that wait for something to come (rules/events#feed; V3): asked for in short turns, so that a gateway that is about to stop answers who
 * waits with the empty page of this turn, instead of holding them until their connection is cut (rules/operations#promises). They take none of the
 * places of requests that are worked on, and an account has a few at a time (rules/http#overload).
 */
import type { Actor, RequestOf } from '#libs/contract';
import { AppError, unavailable } from '#libs/errors';
import type { HttpContext } from '#libs/http';
import type { Bus, CallContext, RawReply } from '#libs/nats';
import { followed, mostWaits } from './routes/v1/events.ts';

type Request = RequestOf<typeof followed>;

/** Far less than the time that requests have to finish when the gateway stops. */
const turnSeconds = 5;
/** A page with an event is longer. */
const emptyBytes = 200;

export class LongPolls {
  readonly #bus: Pick<Bus, 'callRaw'>;
  readonly #max: number;
  #stopping = false;
  #waiting = 0;
  readonly #accounts = new Map<number | undefined, number>();

  /** `max`: waits of all accounts. */
  constructor(bus: Pick<Bus, 'callRaw'>, max: number) {
    this.#bus = bus;
    this.#max = max;
  }

  /** Whoever waits is answered when their turn ends. */
  stop(): void {
    this.#stopping = true;
  }

  /** @throws AppError 429; unavailable */
  async read(request: Request, context: CallContext, ctx: HttpContext): Promise<RawReply> {
    if ((request.wait ?? 0) === 0 || request.after === 'latest') return this.#bus.callRaw(followed, request, context);
    const leave = this.#enter(context.actor, ctx);
    try {
      ctx.state.beginAnswer();
      return await this.#wait(request, context, ctx);
    } finally {
      leave();
    }
  }

  #enter(actor: Actor | undefined, { state }: HttpContext): () => void {
    const account = actor?.kind === 'user' ? actor.accountId : undefined;
    const own = this.#accounts.get(account) ?? 0;
    if (own >= mostWaits || this.#waiting >= this.#max) {
      state.refused('too_many_waits');
      if (own < mostWaits) throw unavailable('Too many requests wait');
      const message = `The account has ${mostWaits} requests that wait for events; end one first.`;
      throw new AppError({ code: 'rate_limited', message, details: { retry_after: turnSeconds } });
    }
    this.#waiting++;
    this.#accounts.set(account, own + 1);
    return () => {
      this.#waiting--;
      const left = (this.#accounts.get(account) ?? 1) - 1;
      if (left === 0) this.#accounts.delete(account);
      else this.#accounts.set(account, left);
    };
  }

  async #wait(request: Request, context: CallContext, { res }: HttpContext): Promise<RawReply> {
    let { after } = request;
    for (let left = request.wait ?? 0; ; left -= turnSeconds) {
      const wait = this.#stopping ? 0 : Math.min(left, turnSeconds);
      const reply = await this.#bus.callRaw(followed, { ...request, ...(after !== undefined && { after }), wait }, context);
      // Who has left waits no longer than their turn.
      if (left <= wait || this.#stopping || res.destroyed) return reply;
      const next = readNextOfEmpty(reply);
      if (next === undefined) return reply;
      after = next;
    }
  }
}

/** The cursor of a page without events. */
function readNextOfEmpty(reply: RawReply): string | undefined {
  if (reply.kind !== 'bytes' || reply.bytes.byteLength > emptyBytes) return undefined;
  const { items, next } = JSON.parse(Buffer.from(reply.bytes).toString('utf8')) as { items: unknown[]; next: string };
  return items.length === 0 ? next : undefined;
}
