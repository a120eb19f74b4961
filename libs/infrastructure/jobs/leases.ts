/**
 * Renews the leases of this process: every third of the lease it first renews the rows of running jobs, then extends
 * the ack wait of their messages. In this order the broker cannot redeliver a message before the lease in the row has
 * ended.
 */
import { renewPeriodically, Slab } from '#libs/infrastructure/concurrency';
import type { Logger } from '#libs/infrastructure/logger';
import type { Delivery } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { describeFault } from './errors.ts';
import { renewLeases } from './statements.ts';

/** A message in progress, with its job after the job was claimed. */
export interface HeldLease {
  readonly delivery: Delivery;
  /** Index in the slab. */
  readonly slot: number;
  job?: { readonly id: string; readonly lease: number; readonly isFenced: () => boolean; readonly onLost: () => void };
}

export class LeaseRenewer {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #held = new Slab<HeldLease>();
  #stop: (() => void) | undefined;

  constructor(deps: { db: Database; logger: Logger; leaseMs: number }) {
    this.#db = deps.db;
    this.#logger = deps.logger;
    this.#leaseMs = deps.leaseMs;
  }

  start(): void {
    this.#stop = renewPeriodically({
      leaseMs: this.#leaseMs,
      renew: () => this.#renew(),
      onFailure: (error) => this.#logger.warn(describeFault(error), 'leases of jobs cannot be renewed now'),
    });
  }

  stop(): void {
    this.#stop?.();
  }

  hold(delivery: Delivery): HeldLease {
    const holding: HeldLease = { delivery, slot: this.#held.nextIndex };
    this.#held.add(holding);
    return holding;
  }

  release(holding: HeldLease): void {
    if (this.#held.get(holding.slot) === holding) this.#held.remove(holding.slot);
  }

  /**
   * Renews rows and messages. The ack wait is extended even when the rows cannot be renewed, because without the
   * database no other worker can claim the jobs.
   */
  async #renew(): Promise<void> {
    try {
      await this.#renewRows();
    } finally {
      for (const { delivery } of this.#held) delivery.working();
    }
  }

  async #renewRows(): Promise<void> {
    const running = [...this.#held].flatMap(({ job }) => (job === undefined || job.isFenced() ? [] : [job]));
    if (running.length === 0) return;
    const rows = await renewLeases(this.#db, {
      ids: running.map(({ id }) => id),
      leases: running.map(({ lease }) => lease),
      duration: this.#leaseMs,
    });
    const renewed = new Set(rows.map(({ id }) => id));
    const still = new Set([...this.#held].map(({ job }) => job));
    for (const job of running) if (!renewed.has(job.id) && still.has(job) && !job.isFenced()) job.onLost();
  }
}
