/**
 * What requests may take at the same time. Anonymous ones have places, room and memory of their own, so that they take none of those
 * that callers with a credential wait for, and neither do bodies that have not come yet (D62, D77).
 */
import { unavailable } from '#libs/errors';
import type { HttpContext, Refusal } from './exchange.ts';
import { createWeightedSemaphore, type WeightedSemaphore } from './weighted-semaphore.ts';
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
