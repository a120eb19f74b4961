/**
 * Pages of visitors that wait for a person (H2). They take none of the places of requests that are worked on; when too many wait, or the gateway is about to
 * stop, they are answered at once and ask again.
 */
import type { RequestOf } from '#libs/contract';
import type { HttpContext } from '#libs/http';
import type { Bus, CallContext, RawReply } from '#libs/nats';
import { agents } from '#services/agents';

export const { readChatUpdates } = agents.rpcs;

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

  async read(request: RequestOf<typeof readChatUpdates>, context: CallContext, { state }: HttpContext): Promise<RawReply> {
    if ((request.wait ?? 0) === 0 || this.#isStopping || this.#waiting >= this.#max)
      return await this.#bus.callRaw(readChatUpdates, { ...request, wait: 0 }, context);
    this.#waiting++;
    state.beginResponse();
    try {
      return await this.#bus.callRaw(readChatUpdates, request, context);
    } finally {
      this.#waiting--;
    }
  }
}
