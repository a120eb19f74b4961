/**
 * Keeps what this process holds: every third of the lease it renews the rows of running jobs, then tells the broker that their
 * messages are worked on. The row first, so that the broker never delivers again before the row's lease has ended.
 */
import type { Logger } from '#libs/logger';
import type { Delivery } from '#libs/nats';
import type { Database } from '#libs/orm';
import { describeFault } from './errors.ts';
import { renewLeases } from './statements.ts';

/** A message in this process's hands, and the job it called for once that is claimed. */
export interface Holding {
  readonly delivery: Delivery;
  job?: { readonly id: string; readonly lease: number; readonly isFenced: () => boolean; readonly onLost: () => void };
}

export class LeaseKeeper {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #held = new Set<Holding>();
  #timer: NodeJS.Timeout | undefined;
  #renewing = false;

  constructor(deps: { db: Database; logger: Logger; leaseMs: number }) {
    this.#db = deps.db;
    this.#logger = deps.logger;
    this.#leaseMs = deps.leaseMs;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#renew(), this.#leaseMs / 3);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  hold(delivery: Delivery): Holding {
    const holding: Holding = { delivery };
    this.#held.add(holding);
    return holding;
  }

  release(holding: Holding): void {
    this.#held.delete(holding);
  }

  /** Never rejects. While the database is away nobody can take the leases over either, so the work goes on. */
  async #renew(): Promise<void> {
    if (this.#renewing || this.#held.size === 0) return;
    this.#renewing = true;
    try {
      const running = [...this.#held].flatMap(({ job }) => (job === undefined || job.isFenced() ? [] : [job]));
      if (running.length > 0) {
        const rows = await renewLeases(this.#db, {
          ids: running.map(({ id }) => id),
          leases: running.map(({ lease }) => lease),
          duration: this.#leaseMs,
        });
        const kept = new Set(rows.map(({ id }) => id));
        const still = new Set([...this.#held].map(({ job }) => job));
        for (const job of running) if (!kept.has(job.id) && still.has(job) && !job.isFenced()) job.onLost();
      }
    } catch (error) {
      this.#logger.warn(describeFault(error), 'leases of jobs cannot be renewed now');
    } finally {
      this.#renewing = false;
    }
    for (const { delivery } of this.#held) delivery.working();
  }
}
