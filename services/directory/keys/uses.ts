/**
 * Buffers the last-used times of keys, so that a request does not cost a write (K7), and provides the metric of
 * expiring keys.
 */
import type { Database } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { countExpiringKeys, writeUses } from './statements.ts';

export interface KeyUses {
  note(id: string): void;
  /** Stores the buffered uses. If storing fails, they remain buffered. */
  write(): Promise<void>;
}

/** Interval at which uses are stored. With `stepSeconds`, `last_used_at` is at most a minute late. */
export const writeUsesIntervalMs = 10_000;
/** Minimum difference between stored uses of a key. */
const stepSeconds = 50;

/** Creates the buffer of key uses. @param now epoch milliseconds */
export function createKeyUses(db: Database, now: () => number = () => Date.now()): KeyUses {
  let uses = new Map<string, string>();
  return {
    note: (id) => void uses.set(id, new Date(now()).toISOString()),
    write: async () => {
      if (uses.size === 0) return;
      const taken = uses;
      uses = new Map();
      try {
        await writeUses(db, { ids: [...taken.keys()], usedAt: [...taken.values()], stepSeconds });
      } catch (error) {
        uses = new Map([...taken, ...uses]);
        throw error;
      }
    },
  };
}

/** The metric counts keys that expire within this number of days. Its alert and runbook use the same number. */
const noticeDays = 7;

export function measureKeys(metrics: Metrics, db: Database): void {
  metrics.gauge('service_keys_expiring', `Service keys that expire within ${noticeDays} days`, [], async (gauge) => {
    const { count } = await countExpiringKeys(db, { days: noticeDays });
    gauge.set(count);
  });
}
