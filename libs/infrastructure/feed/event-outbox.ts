/** Outbox of public events. Rows are inserted in the transaction of the change that the event describes (V2). */
import type { FeedAccess, FeedEvent, Static } from '#libs/infrastructure/contract';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database, Tx } from '#libs/infrastructure/orm';
import { compileSchema, type SchemaCheck } from '#libs/infrastructure/schema';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { OutboxRelay, type RelayTuning } from './relay.ts';
import { insertOutbox, readOutboxAge } from './statements.ts';

export interface NewEvent<Event extends FeedEvent> {
  /** Id of the event's subject. The transaction has locked or inserted the row of the subject. */
  readonly subject: number;
  readonly data: Static<Event['data']>;
  /**
   * Determines who can read the subject. The service that owns the subject sets it when access can have changed, and
   * with the final event.
   */
  readonly access?: FeedAccess | undefined;
  /** Overrides the default of the event's declaration. */
  readonly isFinalEvent?: boolean | undefined;
}

export interface EventOutboxOptions {
  readonly service: string;
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tuning?: Partial<RelayTuning> | undefined;
}

interface Row {
  readonly type: string;
  readonly subjectType: string;
  readonly subject: number;
  readonly data: string;
  readonly access: string | null;
  readonly isFinalEvent: boolean;
}

export class EventOutbox {
  readonly #relay: OutboxRelay;
  readonly #pending = new WeakMap<Tx, Row[]>();
  readonly #checks = new WeakMap<FeedEvent, SchemaCheck>();

  constructor({ metrics, ...options }: EventOutboxOptions) {
    this.#relay = new OutboxRelay(options);
    metrics.gauge('feed_outbox_age_seconds', 'Age of the oldest event in the outbox', [], async (gauge) =>
      gauge.set((await readOutboxAge(options.db)).seconds),
    );
  }

  /**
   * Adds an event to the transaction. The events of a transaction are inserted together before the commit, in the order
   * of the calls.
   * @throws Error when the data do not match the declaration
   */
  add<Event extends FeedEvent>(
    tx: Tx,
    event: Event,
    { subject, data, access, isFinalEvent = event.isFinalEvent }: NewEvent<Event>,
  ): void {
    this.#check(event, data);
    const row = {
      type: event.type,
      subjectType: event.subject,
      subject,
      data: JSON.stringify(data),
      access: access === undefined ? null : JSON.stringify(access),
      isFinalEvent,
    };
    const pending = this.#pending.get(tx);
    if (pending !== undefined) {
      pending.push(row);
      return;
    }
    const rows = [row];
    this.#pending.set(tx, rows);
    tx.beforeCommit(() =>
      insertOutbox(tx, {
        types: rows.map(({ type }) => type),
        subjectTypes: rows.map(({ subjectType }) => subjectType),
        subjectIds: rows.map((item) => item.subject),
        data: rows.map((item) => item.data),
        access: rows.map((item) => item.access),
        finalEvents: rows.map((item) => item.isFinalEvent),
      }),
    );
    tx.afterCommit(() => this.#relay.wake());
  }

  /** Wakes the relay. Call it after the commit of a statement that contains `insertEventSql`. */
  wake(): void {
    this.#relay.wake();
  }

  start(): void {
    this.#relay.start();
  }

  async stop(): Promise<void> {
    await this.#relay.stop();
  }

  #check(event: FeedEvent, data: unknown): void {
    let check = this.#checks.get(event);
    if (check === undefined) this.#checks.set(event, (check = compileSchema(event.data)));
    const problem = check(data);
    if (problem !== undefined)
      throw new Error(
        `data of ${event.type} do not match their declaration at /${problem.path.join('/')}: ${problem.message}`,
      );
  }
}
