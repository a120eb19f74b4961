/**
 * Publishes the outbox of a service to the stream FEED (V2). One process at a time publishes, in outbox order, one
 * message after the other; a message contains all pending rows. Rows are deleted after the broker has stored them.
 * After a crash the next process publishes the same rows again; the events service drops duplicates by their numbers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { feedSubjectOf } from '#libs/contract';
import type { Logger } from '#libs/logger';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import { type PollRun, Poller } from '#libs/concurrency';
import { claimOutbox, findOutboxRow, lockOutbox, type OutboxRow, setLockTimeout } from './statements.ts';

export interface RelayTuning {
  /**
   * Pause after a message in which further rows accumulate: one message per change would cost more than the change.
   * Default 100.
   */
  readonly batchMs: number;
  /** Interval at which a process looks for rows of a process that died. Default 1 000. */
  readonly pollMs: number;
}

const defaultTuning: RelayTuning = { batchMs: 100, pollMs: 1_000 };
/** Rows per message; far below the message size limit of the broker. */
const maxRows = 500;
const publishTimeoutMs = 2_000;

export class OutboxRelay {
  readonly #deps: { readonly service: string; readonly db: Database; readonly bus: Bus };
  readonly #tuning: RelayTuning;
  readonly #poller: Poller;

  constructor(deps: {
    service: string;
    db: Database;
    bus: Bus;
    logger: Logger;
    tuning?: Partial<RelayTuning> | undefined;
  }) {
    this.#deps = deps;
    this.#tuning = { ...defaultTuning, ...deps.tuning };
    this.#poller = new Poller({
      poll: (poll) => this.#publishPending(poll),
      intervalMs: this.#tuning.pollMs,
      logger: deps.logger,
      texts: { failure: 'feed relay: publish failed, retrying', recovery: 'feed relay: publishing again' },
    });
  }

  start(): void {
    this.#poller.start();
  }

  /** Call it when a row was inserted. */
  wake(): void {
    this.#poller.wake();
  }

  /** Publishes the pending rows once more if the broker is connected, then stops. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #publishPending({ woken, last }: PollRun): Promise<void> {
    const { db, bus } = this.#deps;
    if (!bus.connected || !(woken || last || (await findOutboxRow(db)) !== undefined)) return;
    const published = await this.#publishBatch();
    if (published === maxRows) this.#poller.wake();
    else if (published > 0 && !last) await sleep(this.#tuning.batchMs);
  }

  /** Publishes one message. @returns the number of its rows */
  async #publishBatch(): Promise<number> {
    const { service, db, bus } = this.#deps;
    return db.transaction(async (tx) => {
      const [, , claimed] = await tx.pipeline(
        () => setLockTimeout(tx),
        () => lockOutbox(tx),
        () => claimOutbox(tx, { limit: maxRows }),
      );
      const rows = claimed.toSorted((a, b) => a.number - b.number);
      const [first] = rows;
      if (first === undefined) return 0;
      const options = {
        msgId: `feed.${service}.${first.number}.${first.occurred_at}.${rows.length}`,
        timeoutMs: publishTimeoutMs,
      };
      await bus.publishDurable(feedSubjectOf(service), `{"told":[${rows.map(stringifyRow).join(',')}]}`, options);
      return rows.length;
    });
  }
}

/** Inserts JSON of the database as it is, without parsing it. */
function stringifyRow(row: OutboxRow): string {
  const {
    number,
    type,
    subject_type: subjectType,
    subject_id: subjectId,
    data,
    access,
    farewell,
    occurred_at: occurredAt,
  } = row;
  const at = `${occurredAt.replace(' ', 'T')}Z`;
  const subject = `"subject_type":"${subjectType}","subject_id":${subjectId}`;
  return `{"number":${number},"type":"${type}",${subject},"data":${data},"access":${access ?? 'null'},"farewell":${farewell},"occurred_at":"${at}"}`;
}
