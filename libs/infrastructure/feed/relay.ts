/**
 * Publishes the outbox of a service to the stream FEED (V2). One process at a time publishes the rows in order, one
 * message after the other; a message contains up to 500 pending rows. Rows are deleted after the broker has stored
 * them. After a crash the next process publishes the same rows again; the events service drops duplicates by their
 * numbers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { feedSubjectOf } from '#libs/infrastructure/contract';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { type PollRun, Poller } from '#libs/infrastructure/concurrency';
import { claimOutbox, findOutboxRow, lockOutbox, type OutboxRow, setLockTimeout } from './statements.ts';

export interface RelayTuning {
  /**
   * Pause after a message in which further rows accumulate, because one message per change would cost more than the
   * change. In milliseconds; default 100.
   */
  readonly batchMs: number;
  /**
   * Interval of the search for rows of a process that ended before it published them. In milliseconds; default 1 000.
   */
  readonly pollMs: number;
}

const defaultTuning: RelayTuning = { batchMs: 100, pollMs: 1_000 };
/** Maximum number of rows per message; such a message is far below the size limit of the broker. */
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

  /** Publishes soon. Call it after a row was inserted. */
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

  /** Publishes one message. @returns the number of rows in the message */
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

/** Returns a row as JSON. JSON from the database is inserted without parsing it. */
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
