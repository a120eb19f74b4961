/**
 * Keeping a lease: a right in the database that ends by itself when its holder stops renewing it. Only the database says that a lease is lost.
 * While it is away nobody can take the lease over either, so the work goes on; should somebody have taken it over all the same, the transaction
 * that records the work finds that out and refuses.
 */
export interface RenewalOptions {
  readonly leaseMs: number;
  /** Hears why the lease could not be renewed this time. */
  readonly onFailure: (error: unknown) => void;
}

export interface Lease {
  /** Aborts when somebody else has the lease. */
  readonly lost: AbortSignal;
  /** Renews it no more; it ends by itself, or by what its holder does next. */
  readonly stop: () => void;
}

/** Renews a lease until stopped. `renew` says whether it is still held; `reason` is what its loss aborts with. */
export function renewLease(options: RenewalOptions & { readonly renew: () => Promise<boolean>; readonly reason?: () => Error }): Lease {
  const lost = new AbortController();
  const stop = renewPeriodically({
    ...options,
    renew: async () => {
      if (await options.renew()) return;
      stop();
      lost.abort(options.reason?.());
    },
  });
  return { lost: lost.signal, stop };
}

/** Calls `renew` every third of a lease, never while the last call still runs. @returns the end of it */
export function renewPeriodically({ leaseMs, renew, onFailure }: RenewalOptions & { readonly renew: () => Promise<void> }): () => void {
  let renewing = false;
  const run = async (): Promise<void> => {
    if (renewing) return;
    renewing = true;
    try {
      await renew();
    } catch (error) {
      onFailure(error);
    } finally {
      renewing = false;
    }
  };
  const timer = setInterval(() => void run(), leaseMs / 3);
  return () => clearInterval(timer);
}
