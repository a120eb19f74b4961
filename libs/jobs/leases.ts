/**
 * Keeps what this process holds: every third of the lease it renews the rows of running jobs, then tells the broker that their
 * messages are worked on. The row first, so that the broker never delivers again before the row's lease has ended.
 */
import { renewPeriodically, Slab } from '#libs/concurrency';
import type { Logger } from '#libs/logger';
import type { Delivery } from '#libs/nats';
import type { Database } from '#libs/orm';
import { describeFault } from './errors.ts';
import { renewLeases } from './statements.ts';

/** A message in this process's hands, and the job it called for once that is claimed. */
export interface HeldLease {
  readonly delivery: Delivery;
  /** Among those that are held. */
  readonly place: number;
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
    const holding: HeldLease = { delivery, place: this.#held.nextIndex };
    this.#held.add(holding);
    return holding;
  }

  release(holding: HeldLease): void {
    if (this.#held.get(holding.place) === holding) this.#held.remove(holding.place);
  }

  /** The broker hears of the work even when the rows cannot be renewed: nobody else can take them over then. */
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
    const kept = new Set(rows.map(({ id }) => id));
    const still = new Set([...this.#held].map(({ job }) => job));
    for (const job of running) if (!kept.has(job.id) && still.has(job) && !job.isFenced()) job.onLost();
  }
}
