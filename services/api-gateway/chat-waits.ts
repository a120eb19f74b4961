/**
 * Long polls of chat visitors that wait for an operator (H2). They do not count as requests in flight. When too many wait, or the gateway is stopping, they
 * return at once and the page polls again.
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
    state.startResponse();
    try {
      return await this.#bus.callRaw(readChatUpdates, request, context);
    } finally {
      this.#waiting--;
    }
  }
}
