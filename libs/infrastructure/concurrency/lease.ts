/**
 * Lease renewal. A lease is a right in the database that expires unless its holder renews it. Work continues while the
 * database is unavailable, because no other process can acquire the lease then. If the lease is lost anyway, the
 * transaction that records the work detects it.
 */
export interface RenewalOptions {
  readonly leaseMs: number;
  /** Called when a renewal fails. */
  readonly onFailure: (error: unknown) => void;
}

export interface Lease {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** Stops the renewal. The lease then expires, unless the holder releases it. */
  readonly stop: () => void;
}

/**
 * Renews a lease until stopped. `renew` resolves with true while the lease is held. `reason` creates the abort reason
 * for a lost lease.
 */
export function renewLease(
  options: RenewalOptions & { readonly renew: () => Promise<boolean>; readonly reason?: () => Error },
): Lease {
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

/** Calls `renew` every third of the lease time, never concurrently. @returns a function that stops the calls */
export function renewPeriodically({
  leaseMs,
  renew,
  onFailure,
}: RenewalOptions & { readonly renew: () => Promise<void> }): () => void {
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
