/**
 * What requests may take at the same time. Anonymous ones have places, room and memory of their own, so that they take none of those
 * that callers with a credential wait for, and neither do bodies that have not come yet (D62, D77).
 */
import { unavailable } from '#libs/errors';
import type { HttpContext, Refusal } from './exchange.ts';
import { ByteBudget } from './byte-budget.ts';

export interface Capacity {
  /** Bodies as they arrive. */
  readonly bodies: ByteBudget;
  /** Bodies as they are worked on, by `weighJson`. */
  readonly memory: WeightedSemaphore;
  /** Takes a place for work; the function gives it back. @throws AppError unavailable */
  acquire(ctx: HttpContext): () => void;
}

export interface Capacities {
  readonly authenticated: Capacity;
  readonly anonymous: Capacity;
  /** Takes a place for an anonymous request that waits for others (`waitsLong`). */
  acquireWait(ctx: HttpContext): () => void;
  /** Takes a place for the check of a credential that the directory has to be asked about. */
  acquireCheck(ctx: HttpContext): () => void;
}

const mebibyte = 1_048_576;

/** @param maxInFlight requests of a class that are worked on at the same time; more are answered 503. */
export function createCapacities(maxInFlight: number): Capacities {
  return {
    authenticated: {
      bodies: new ByteBudget(64 * mebibyte),
      memory: createWeightedSemaphore(192 * mebibyte),
      acquire: createSlots(maxInFlight, 'too_many_requests'),
    },
    anonymous: {
      bodies: new ByteBudget(32 * mebibyte),
      memory: createWeightedSemaphore(64 * mebibyte),
      acquire: createSlots(maxInFlight, 'too_many_anonymous'),
    },
    acquireWait: createSlots(maxInFlight, 'too_many_chats'),
    acquireCheck: createSlots(maxInFlight, 'too_many_credential_checks'),
  };
}

function createSlots(max: number, refusal: Refusal): (ctx: HttpContext) => () => void {
  let taken = 0;
  return ({ state }) => {
    if (taken >= max) {
      state.countRefusal(refusal);
      throw unavailable('The service is busy');
    }
    taken++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      taken--;
    };
  };
}

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
