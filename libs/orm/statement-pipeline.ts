/**
 * Statements of one turn of the event loop travel on one connection, one behind the other: under load a turn serves many requests, and a
 * connection, a write and a process switch for each would cost PostgreSQL and the service more than the statements themselves.
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
  /** Takes statements until the turn ends in which its connection is there. */
  #open: Group | undefined;

  /** `connect` gives a connection of the pool; `size` statements at most share it, 1 = each has its own. */
  constructor(connect: () => Promise<pg.PoolClient>, size: number) {
    this.#connect = connect;
    this.#size = size;
  }

  /** Runs `work` on the turn's connection; it gives the connection back when the last of them is done. */
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
