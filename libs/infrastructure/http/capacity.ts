/**
 * Limits of concurrent requests and their memory. Anonymous requests have separate limits, so they cannot exhaust those
 * of authenticated callers. Bodies that are being received count separately (D62, D77).
 */
import { unavailable } from '#libs/infrastructure/errors';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { type HttpContext, type Refusal, refusals } from './exchange.ts';
import { ByteBudget } from './byte-budget.ts';

export interface Capacity {
  /** Budget of bodies that are being received. */
  readonly bodies: ByteBudget;
  /** Memory of parsed bodies, weighed by `estimateJsonBytes`. */
  readonly memory: WeightedSemaphore;
  /** Acquires a request slot. Returns a function that releases it. @throws AppError unavailable */
  acquire(ctx: HttpContext): () => void;
}

export interface Capacities {
  readonly authenticated: Capacity;
  readonly anonymous: Capacity;
  /** Acquires a slot for an anonymous long-running request (`isLongRunning`). */
  acquireWait(ctx: HttpContext): () => void;
  /** Acquires a slot for a credential check that calls the directory. */
  acquireCheck(ctx: HttpContext): () => void;
}

const mebibyte = 1_048_576;

/** @param maxInFlight maximum number of concurrent requests per class; further requests get 503 */
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
    let remaining = false;
    return () => {
      if (remaining) return;
      remaining = true;
      taken--;
    };
  };
}

export interface WeightedSemaphore {
  /**
   * Admits work of this weight in order of arrival; work heavier than the limit runs alone. Returns a function that
   * releases the weight, or a promise of it.
   * @throws AppError unavailable when the work was not admitted by `deadlineMs` (epoch; Infinity = no limit)
   */
  acquire(weight: number, deadlineMs: number): (() => void) | Promise<() => void>;
}

interface Waiting {
  readonly weight: number;
  admit(): void;
}

/** @param maxWeight total weight of concurrent work */
export function createWeightedSemaphore(maxWeight: number): WeightedSemaphore {
  const waiting = new Set<Waiting>();
  let inside = 0;
  const fits = (weight: number): boolean => inside === 0 || inside + weight <= maxWeight;
  const admit = (weight: number): (() => void) => {
    let remaining = false;
    inside += weight;
    return () => {
      if (remaining) return;
      remaining = true;
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

/** Returns a function that counts one rejected request by reason. */
export function countRefusals(metrics: Metrics): (reason: Refusal) => void {
  const total = metrics.counter('http_requests_refused_total', 'Requests and connections ended by a guard', {
    reason: refusals,
  });
  return (reason) => total.inc({ reason }, 1);
}
