/** Bounds the memory of what is worked on at the same time, by weight: one body of 4 MiB may be a hundred megabytes of values. */
import { unavailable } from '#libs/errors';

export interface WeightedSemaphore {
  /**
   * Lets work of the weight in, in order of arrival; one that is heavier than all that fits goes alone.
   * Gives the function that gives the place back. @throws AppError unavailable when there is no place by `deadlineMs` (epoch; Infinity = waits).
   */
  acquire(weight: number, deadlineMs: number): (() => void) | Promise<() => void>;
}

interface Waiting {
  readonly weight: number;
  admit(): void;
}

/** @param maxWeight of all work inside. */
export function createWeightedSemaphore(maxWeight: number): WeightedSemaphore {
  const waiting = new Set<Waiting>();
  let inside = 0;
  const fits = (weight: number): boolean => inside === 0 || inside + weight <= maxWeight;
  const admit = (weight: number): (() => void) => {
    let left = false;
    inside += weight;
    return () => {
      if (left) return;
      left = true;
      inside -= weight;
      for (const next of waiting) {
        if (!fits(next.weight)) return;
        waiting.delete(next);
        next.admit();
      }
    };
  };
  return {
    acquire: (weight, deadlineMs) => {
      if (waiting.size === 0 && fits(weight)) return admit(weight);
      return new Promise((resolve, reject) => {
        const entry = {
          weight,
          admit: () => {
            clearTimeout(timer);
            resolve(admit(weight));
          },
        };
        const giveUp = (): void => {
          waiting.delete(entry);
          reject(unavailable('The service is busy'));
        };
        const timer = deadlineMs === Infinity ? undefined : setTimeout(giveUp, Math.max(0, deadlineMs - Date.now()));
        waiting.add(entry);
      });
    },
  };
}
