/** What an account may read at this moment, asked once for all of its endpoints (V7). */
import type { Bus, CallContext } from '#libs/nats';
import type { Database } from '#libs/orm';
import { directory } from '#services/directory';
import { findViewer, type Reader, type Viewer } from '../feed/index.ts';
import { endEndpointsOf } from './statements/queue.ts';

/** What was found to be visible is sent within it, or looked at again. */
export const judgedForMs = 1_000;
/** Accounts that are remembered; those of before are forgotten when there are more. */
const mostKnown = 1_000;

interface Known {
  /** When the account was asked about. */
  readonly atMs: number;
  readonly reader: Reader;
  readonly viewer: Viewer;
}

export class Readers {
  readonly #deps: { readonly bus: Bus; readonly db: Database };
  readonly #asked = new Map<number, { readonly atMs: number; readonly answer: Promise<Known | undefined> }>();

  constructor(deps: { readonly bus: Bus; readonly db: Database }) {
    this.#deps = deps;
  }

  /** Undefined while the account is deactivated. One that is gone takes its endpoints with it. */
  find(accountId: number, context: CallContext): Promise<Known | undefined> {
    const known = this.#asked.get(accountId);
    const atMs = performance.now();
    if (known !== undefined && atMs - known.atMs <= judgedForMs) return known.answer;
    if (this.#asked.size >= mostKnown) this.#asked.clear();
    const answer = this.#ask(accountId, context, atMs);
    this.#asked.set(accountId, { atMs, answer });
    answer.catch(() => this.#asked.delete(accountId));
    return answer;
  }

  async #ask(accountId: number, context: CallContext, atMs: number): Promise<Known | undefined> {
    const { bus, db } = this.#deps;
    const { reader, exists } = await bus.call(directory.rpcs.findReader, { account_id: accountId }, context);
    if (!exists) await endEndpointsOf(db, { accountId });
    return reader === null ? undefined : { atMs, reader, viewer: await findViewer(bus, { ...context, reader }) };
  }
}
