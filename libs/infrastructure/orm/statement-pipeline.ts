/**
 * Sends all statements of an event loop turn on one connection. Under load, a turn serves many requests; a connection
 * and a write per request would cost more than the statements.
 */
import type pg from 'pg';
import { isConnectionError, needsAnotherConnection } from './errors.ts';

interface Group {
  readonly client: Promise<pg.PoolClient>;
  taken: number;
  running: number;
  broken: boolean;
}

export class StatementPipeline {
  readonly #connect: () => Promise<pg.PoolClient>;
  readonly #size: number;
  /** Accepts statements until the end of the turn in which its connection is available. */
  #open: Group | undefined;

  /** @param size maximum number of statements that share a connection; 1: a connection is not shared */
  constructor(connect: () => Promise<pg.PoolClient>, size: number) {
    this.#connect = connect;
    this.#size = size;
  }

  /** Runs `work` on the shared connection, which is released after the last statement. */
  async run<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const group = this.#join();
    const client = await group.client;
    try {
      return await work(client);
    } catch (error) {
      if (needsAnotherConnection(error) || isConnectionError(error)) group.broken = true;
      throw error;
    } finally {
      if (--group.running === 0) {
        this.#close(group);
        client.release(group.broken);
      }
    }
  }

  #join(): Group {
    const group = (this.#open ??= this.#begin());
    group.taken++;
    group.running++;
    if (group.taken === this.#size) this.#open = undefined;
    return group;
  }

  #begin(): Group {
    const group: Group = { client: this.#connect(), taken: 0, running: 0, broken: false };
    const close = (): void => void setImmediate(() => this.#close(group));
    if (this.#size > 1) group.client.then(close, close);
    return group;
  }

  #close(group: Group): void {
    if (this.#open === group) this.#open = undefined;
  }
}
