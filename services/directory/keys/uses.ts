/** Last-used times of keys, buffered so that a request does not cost a write (K7), and the metric of expiring keys. */
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { countExpiringKeys, writeUses } from './statements.ts';

export interface KeyUses {
  note(id: string): void;
  /** Writes what was noted. What could not be written is kept for the next time. */
  write(): Promise<void>;
}

/** How often uses are written; with `stepSeconds` a minute, by which `last_used_at` may be behind. */
export const writeUsesEveryMs = 10_000;
/** A key's use is written again when it is so much later. */
const stepSeconds = 50;

/** @param now epoch milliseconds */
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

/** Days before its end in which a key is told; as the name of the metric's alert and its runbook have it. */
const noticeDays = 7;

export function measureKeys(metrics: Metrics, db: Database): void {
  metrics.gauge('service_keys_expiring', `Service keys that expire within ${noticeDays} days`, [], async (gauge) => {
    const { count } = await countExpiringKeys(db, { days: noticeDays });
    gauge.set(count);
  });
}
