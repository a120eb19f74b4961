/**
 * Receipts of what is refused, which anybody can cause by posting (D20, D68): each has one of its own while they are few; beyond that those
 * of an hour share one, which counts them. So the rows are bounded, and a flood costs the database a fraction of a statement for each post.
 */
import { createBatcher } from '#libs/batch';
import type { Queryable } from '#libs/sql';
import { type KeptBody, keepBody } from './receipts.ts';
import { countDeliveries } from './statements.ts';

/** Receipts of their own that a process gives to refusals of one outcome. */
export const refusalsPerHour = 100;
const refusalsPerDay = 500;

export interface Refusal {
  readonly outcome: string;
  readonly message: string;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** Of a receipt of its own. */
  readonly dedupeKey: string;
  /** As it came. */
  readonly body: Buffer | null;
}

/** What the receipt to be stored has. */
export interface RefusalReceipt extends KeptBody, Pick<Refusal, 'outcome' | 'message' | 'dedupeKey'> {}

export interface RefusalReceipts {
  /** Undefined = it is counted already by the receipt that it shares with others. @throws AppError unavailable */
  place(refusal: Refusal): Promise<RefusalReceipt | undefined>;
}

/** `source` keeps the hooks of one service apart. */
export function createRefusalReceipts({ db, source }: { db: Queryable; source: string }): RefusalReceipts {
  const isOneOfFew = createRefusalLimit();
  const count = createSharedCount(db);
  return {
    place: async ({ outcome, message, receivedAt, dedupeKey, body }) => {
      if (isOneOfFew(outcome, receivedAt)) return { outcome, message, dedupeKey, ...keepBody(outcome, body) };
      const shared = `${source}:${outcome}:${receivedAt.slice(0, hourLength)}`;
      if (await count(shared)) return undefined;
      const words = `More than ${refusalsPerHour} within an hour, or ${refusalsPerDay} within a day: these are only counted.`;
      return { outcome, message: words, dedupeKey: shared, body: null, digest: null, size: null };
    },
  };
}

/** Of `2030-01-01T10:…`. */
const [dayLength, hourLength] = [10, 13];

/** Whether there were few of this kind in the hour and the day until now, this one included; each call counts one. */
export function createRefusalLimit(): (kind: string, receivedAt: string) => boolean {
  const counts = new Map<string, number>();
  const add = (key: string): number => {
    const next = (counts.get(key) ?? 0) + 1;
    // What comes from a spool may be of an earlier hour, so that several count at the same time; long ago none does.
    if (next === 1 && counts.size >= 1_000) counts.clear();
    counts.set(key, next);
    return next;
  };
  return (kind, receivedAt) => {
    const ofHour = add(`${kind}:${receivedAt.slice(0, hourLength)}`);
    if (ofHour > refusalsPerHour) return false;
    return add(`${kind}:${receivedAt.slice(0, dayLength)}`) <= refusalsPerDay;
  };
}

/** Counts one more delivery of the receipt with a dedupe key, many in one statement. False while there is no such receipt. */
function createSharedCount(db: Queryable): (dedupeKey: string) => Promise<boolean> {
  let number = 0;
  const batcher = createBatcher<{ readonly key: string; readonly number: number }, true>({
    keyOf: (item) => String(item.number), // each counts
    parallel: 1, // they would wait for each other's row
    run: async (items) => {
      const rows = await countDeliveries(db, { keys: items.map(({ key }) => key) });
      const found = new Set(rows.map(({ key }) => key));
      return new Map(items.filter(({ key }) => found.has(key)).map((item) => [String(item.number), true]));
    },
  });
  return async (key) => (await batcher.add({ key, number: number++ })) === true;
}
