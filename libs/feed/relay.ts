/**
 * Sends what a service has told to the stream FEED (V2): by one process at a time, in the order of the outbox, one message after the other. A
 * message holds all that waits. Rows go when the broker has stored them; what a process that died had sent is sent again by the next one, and the
 * events service knows it by its ids.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { feedSubjectOf } from '#libs/contract';
import type { Logger } from '#libs/logger';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import { type Look, Poller } from '#libs/poller';
import { findTold, limitTurn, takeTold, takeTurn, type ToldRow } from './statements.ts';

export interface RelayTuning {
  /** After a message, what comes is gathered for so long: under load a message for each change would cost more than the change. Default 100. */
  readonly gatherMs: number;
  /** How often a process looks for what one that died has left. Default 1 000. */
  readonly lookMs: number;
}

const defaultTuning: RelayTuning = { gatherMs: 100, lookMs: 1_000 };
/** Rows of one message; far below what the broker takes. */
const mostRows = 500;
const publishTimeoutMs = 2_000;

export class FeedRelay {
  readonly #deps: { readonly service: string; readonly db: Database; readonly bus: Bus };
  readonly #tuning: RelayTuning;
  readonly #poller: Poller;

  constructor(deps: { service: string; db: Database; bus: Bus; logger: Logger; tuning?: Partial<RelayTuning> | undefined }) {
    this.#deps = deps;
    this.#tuning = { ...defaultTuning, ...deps.tuning };
    this.#poller = new Poller({
      look: (look) => this.#sendTold(look),
      intervalMs: this.#tuning.lookMs,
      logger: deps.logger,
      texts: { failure: 'what was told does not reach the feed; trying again', recovery: 'what was told reaches the feed again' },
    });
  }

  start(): void {
    this.#poller.start();
  }

  /** Something was told. */
  wake(): void {
    this.#poller.wake();
  }

  /** Ends after one last look, when the broker is there. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #sendTold({ woken, last }: Look): Promise<void> {
    const { db, bus } = this.#deps;
    if (!bus.connected || !(woken || last || (await findTold(db)) !== undefined)) return;
    const sent = await this.#pass();
    if (sent === mostRows) this.#poller.wake();
    else if (sent > 0 && !last) await sleep(this.#tuning.gatherMs);
  }

  /** One message. @returns how many rows it had */
  async #pass(): Promise<number> {
    const { service, db, bus } = this.#deps;
    return db.transaction(async (tx) => {
      const [, , taken] = await tx.inOrder(
        () => limitTurn(tx),
        () => takeTurn(tx),
        () => takeTold(tx, { limit: mostRows }),
      );
      const rows = taken.toSorted((a, b) => a.number - b.number);
      const [first] = rows;
      if (first === undefined) return 0;
      const options = { msgId: `feed.${service}.${first.number}.${first.occurred_at}.${rows.length}`, timeoutMs: publishTimeoutMs };
      await bus.publishDurable(feedSubjectOf(service), `{"told":[${rows.map(writeTold).join(',')}]}`, options);
      return rows.length;
    });
  }
}

/** JSON that SQL made is not parsed on its way. */
function writeTold(row: ToldRow): string {
  const { number, type, subject_type: subjectType, subject_id: subjectId, data, access, farewell, occurred_at: occurredAt } = row;
  const at = `${occurredAt.replace(' ', 'T')}Z`;
  const subject = `"subject_type":"${subjectType}","subject_id":${subjectId}`;
  return `{"number":${number},"type":"${type}",${subject},"data":${data},"access":${access ?? 'null'},"farewell":${farewell},"occurred_at":"${at}"}`;
}
