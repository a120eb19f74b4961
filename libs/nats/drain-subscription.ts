/** The end of a subscription without loss: what the broker has already sent is still delivered. */
import type { BusSubscription } from './subscriptions.ts';

/** A broker that is away confirms nothing, and sends nothing either. */
const confirmTimeoutMs = 2_000;

/** Resolves when the broker has confirmed that nothing more comes, and all that came is handed on. Never rejects. */
export async function drainSubscription(subscription: BusSubscription): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, confirmTimeoutMs);
  });
  await Promise.race([subscription.drain().catch(() => undefined), timeout]);
  clearTimeout(timer);
}
