/**
 * The order in which updates were accepted. Receipts are stored by several hands at once, and one that died leaves its message to be delivered
 * again later: an update may be worked only when every message accepted before it has its receipt, or one of the same chat could be overtaken.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '#libs/nats';

export interface IntakeOrder {
  /** True when nothing that was accepted before can be missing. */
  isComplete(streamSequence: number): boolean;
  /** Asks the broker how far receipts have got; calls at the same time share one question. Never rejects. */
  refresh(): Promise<void>;
}

const pauseMs = 10;
const failurePauseMs = 250;

export function createIntakeOrder(bus: Bus, durable: string): IntakeOrder {
  let settledUpTo = 0;
  let asking: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    try {
      ({ settledUpTo } = await bus.consumerLag('WEBHOOKS', durable));
      await sleep(pauseMs);
    } catch {
      await sleep(failurePauseMs);
    }
  };
  return {
    isComplete: (streamSequence) => streamSequence <= settledUpTo,
    refresh: () => (asking ??= ask().finally(() => (asking = undefined))),
  };
}
