/**
 * Publishes the jobs and messages that transactions have written. Rows of this process are published right after the
 * commit. All others are found by polling: delayed jobs, retries, rows of ended processes, and everything after an
 * outage.
 */
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { createBatcher, type Batcher, Poller } from '#libs/infrastructure/concurrency';
import { describeFault } from './errors.ts';
import {
  deleteOutbox,
  type DueRow,
  type OutboxRow,
  releaseOutbox,
  claimDueJobs,
  claimOutbox,
  markUnsent,
} from './statements.ts';
import type { JobTuning } from './types.ts';

/** A message for the broker, with a reference to the row that stores it until it is published. */
export interface Message {
  readonly source:
    | { readonly table: 'jobs'; readonly id: string; readonly generation: number }
    | { readonly table: 'outbox'; readonly id: number };
  readonly kind: 'job' | 'event';
  readonly subject: string;
  readonly messageId: string;
  readonly body: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

const batchSize = 500;
const eventLock = '.events';

/**
 * Returns the message id of the n-th publication of a job. The broker drops a message with a known id; a retry has a
 * new id. Jobs from other services use the job id as message id.
 */
function messageIdOf(id: string, generation: number): string {
  return `${id}.${generation}`;
}

/** Returns the message that starts a job of this service. It contains only the id; all other data is in the row. */
export function toJobMessage(row: DueRow): Message {
  return {
    source: { table: 'jobs', id: row.id, generation: row.generation },
    kind: 'job',
    subject: `jobs.${row.type}`,
    messageId: messageIdOf(row.id, row.generation),
    body: JSON.stringify({ id: row.id }),
    requestId: row.request_id,
    traceparent: row.traceparent,
  };
}

function messageOfOutbox(row: OutboxRow): Message {
  return {
    source: { table: 'outbox', id: row.id },
    kind: row.kind,
    subject: row.subject,
    messageId: row.message_id,
    body: row.body,
    requestId: row.request_id,
    traceparent: row.traceparent,
  };
}

export class Relay {
  readonly #db: Database;
  readonly #bus: Bus;
  readonly #tuning: JobTuning;
  readonly #sending = new Set<Promise<void>>();
  readonly #stored: Batcher<number, never>;
  readonly #poller: Poller;
  #stopped = false;
  #unhook: (() => void) | undefined;

  constructor(deps: { db: Database; bus: Bus; logger: Logger; tuning: JobTuning }) {
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#tuning = deps.tuning;
    this.#poller = new Poller({
      poll: () => this.#sendDue(),
      intervalMs: deps.tuning.pollMs,
      logger: deps.logger,
      texts: { failure: 'job relay cannot work; trying again', recovery: 'job relay works again' },
      describeError: describeFault,
    });
    this.#stored = createBatcher({
      keyOf: String,
      run: async (ids) => {
        await deleteOutbox(this.#db, { ids });
        return new Map<string, never>();
      },
    });
  }

  /** Returns whether rows that are committed now can be published immediately. Otherwise polling finds them. */
  get ready(): boolean {
    return this.#bus.connected && !this.#stopped;
  }

  start(): void {
    this.#unhook = this.#bus.onReconnect(() => this.wake());
    this.#poller.start();
  }

  /**
   * Publishes rows that were just committed. Never rejects: rows that could not be published are found by polling.
   * @param delayed older events are unpublished, so the events of this transaction must wait for polling
   */
  send(messages: readonly Message[], delayed: boolean): Promise<void> {
    const sending = this.#sendCommitted(messages, delayed).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    return sending;
  }

  /** Polls for due rows immediately. */
  wake(): void {
    this.#poller.wake();
  }

  /** Polls for due rows within `delayMs`, so that a delayed job does not wait for the next regular poll. */
  wakeIn(delayMs: number): void {
    this.#poller.wakeIn(delayMs);
  }

  /** Stops polling. One more pass is made if the broker is available. */
  async stop(): Promise<void> {
    this.#unhook?.();
    this.#stopped = true;
    await this.#poller.stop();
    await Promise.all(this.#sending);
    await this.#stored.idle();
  }

  async #sendCommitted(messages: readonly Message[], delayed: boolean): Promise<void> {
    const waiting = delayed ? messages.filter(({ kind }) => kind === 'event') : [];
    await Promise.all([
      this.#sendAll(delayed ? messages.filter(({ kind }) => kind === 'job') : messages),
      waiting.length === 0 ? undefined : this.#giveBack(waiting).then(() => this.wake()),
    ]);
  }

  async #sendDue(): Promise<void> {
    while (this.#bus.connected && (await this.#pass()));
  }

  /** Publishes due rows once. Returns true when more rows may be due. */
  async #pass(): Promise<boolean> {
    const [jobs, outbox] = await Promise.all([
      claimDueJobs(this.#db, { limit: batchSize }),
      claimOutbox(this.#db, { limit: batchSize, take: this.#tuning.outboxClaimMs, lock: eventLock }),
    ]);
    const rows = outbox.toSorted((a, b) => a.id - b.id);
    const events = rows.filter((row) => row.kind === 'event').map(messageOfOutbox);
    const others = [...jobs.map(toJobMessage), ...rows.filter((row) => row.kind === 'job').map(messageOfOutbox)];
    const sent = await Promise.all([this.#sendInOrder(events), this.#sendAll(others)]);
    if (sent.includes(false)) return false;
    return jobs.length === batchSize || outbox.length === batchSize;
  }

  /**
   * Publishes pending events in order, each after the acknowledgement of the previous one. Returns false when an event
   * was not acknowledged.
   */
  async #sendInOrder(events: readonly Message[]): Promise<boolean> {
    for (const [index, event] of events.entries()) {
      if (await this.#publish(event)) void this.#forget(event);
      else {
        await this.#giveBack(events.slice(index));
        return false;
      }
    }
    await this.#stored.idle();
    return true;
  }

  async #sendAll(messages: readonly Message[]): Promise<boolean> {
    const stored = await Promise.all(
      messages.map(async (message) => {
        const done = await this.#publish(message);
        if (done) void this.#forget(message);
        return done;
      }),
    );
    const refused = messages.filter((_message, index) => stored[index] !== true);
    if (refused.length > 0) await this.#giveBack(refused);
    return refused.length === 0;
  }

  /**
   * Publishes a message. Returns false without an acknowledgement; the broker may have stored the message anyway, and
   * the message id then prevents a duplicate.
   */
  async #publish(message: Message): Promise<boolean> {
    try {
      await this.#bus.publishDurable(message.subject, message.body, {
        msgId: message.messageId,
        headers: { 'Request-Id': message.requestId ?? undefined, traceparent: message.traceparent ?? undefined },
        timeoutMs: this.#tuning.publishTimeoutMs,
      });
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Deletes the outbox row of a published message; rows of jobs remain. A row that cannot be deleted is published
   * again, which is harmless.
   */
  async #forget(message: Message): Promise<void> {
    if (message.source.table === 'outbox') await this.#stored.add(message.source.id).catch(() => undefined);
  }

  async #giveBack(messages: readonly Message[]): Promise<void> {
    const jobs = messages.flatMap(({ source }) => (source.table === 'jobs' ? [source] : []));
    const outbox = messages.flatMap(({ source }) => (source.table === 'outbox' ? [source.id] : []));
    try {
      if (jobs.length > 0) {
        await markUnsent(this.#db, {
          ids: jobs.map(({ id }) => id),
          generations: jobs.map(({ generation }) => generation),
        });
      }
      if (outbox.length > 0) await releaseOutbox(this.#db, { ids: outbox });
    } catch {
      // the sweeper recovers jobs, the claim timeout recovers outbox rows
    }
  }
}
