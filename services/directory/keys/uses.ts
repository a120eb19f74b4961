/** When keys were used: remembered here and written now and then, so that no request costs a write (K7). */
import type { Database } from '#libs/orm';
import { writeUses } from './statements.ts';

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
