/** Telling the feed: rows travel with the commit of the change that they tell of (V2), in the order in which they were told. */
import type { FeedAccess, FeedEvent, Static } from '#libs/contract';
import type { Logger } from '#libs/logger';
import type { Bus } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { compileSchema, type SchemaCheck } from '#libs/schema';
import type { Metrics } from '#libs/telemetry';
import { FeedRelay, type RelayTuning } from './relay.ts';
import { insertTold, readToldAge } from './statements.ts';

export interface Told<Event extends FeedEvent> {
  /** Id of the subject. The transaction holds a lock on its row, or has made it. */
  readonly subject: number;
  readonly data: Static<Event['data']>;
  /** What decides who may read the subject, where this is its owner and it may have changed or goes. */
  readonly access?: FeedAccess | undefined;
  /** Default as declared. */
  readonly farewell?: boolean | undefined;
}

export interface FeedOptions {
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
  readonly farewell: boolean;
}

export class Feed {
  readonly #relay: FeedRelay;
  readonly #pending = new WeakMap<Tx, Row[]>();
  readonly #checks = new WeakMap<FeedEvent, SchemaCheck>();

  constructor({ metrics, ...options }: FeedOptions) {
    this.#relay = new FeedRelay(options);
    metrics.gauge('feed_outbox_age_seconds', 'Age of what was told longest ago and has not reached the feed', [], async (gauge) =>
      gauge.set((await readToldAge(options.db)).seconds),
    );
  }

  /** @throws Error when the data break the declaration: a fault of the caller */
  tell<Event extends FeedEvent>(tx: Tx, event: Event, { subject, data, access, farewell = event.farewell }: Told<Event>): void {
    this.#check(event, data);
    const row = {
      type: event.type,
      subjectType: event.subject,
      subject,
      data: JSON.stringify(data),
      access: access === undefined ? null : JSON.stringify(access),
      farewell,
    };
    const pending = this.#pending.get(tx);
    if (pending !== undefined) {
      pending.push(row);
      return;
    }
    const rows = [row];
    this.#pending.set(tx, rows);
    tx.beforeCommit(() =>
      insertTold(tx, {
        types: rows.map(({ type }) => type),
        subjectTypes: rows.map(({ subjectType }) => subjectType),
        subjectIds: rows.map((item) => item.subject),
        data: rows.map((item) => item.data),
        access: rows.map((item) => item.access),
        farewells: rows.map((item) => item.farewell),
      }),
    );
    tx.afterCommit(() => this.#relay.wake());
  }

  /** A statement has told by itself (`tellSql`). */
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
      throw new Error(`data of ${event.type} break their declaration at /${problem.path.join('/')}: ${problem.message}`);
  }
}
