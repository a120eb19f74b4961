/**
 * Publishes webhooks of one kind that arrive in the same event loop turn as one message, which the broker syncs once
 * (docs/performance-notes.md#batching-per-event-loop-turn).
 */
import { type Batcher, createBatcher } from '#libs/infrastructure/concurrency';
import type { SpoolEntry } from './webhook-spool.ts';

/** Limits the size of a message, because the whole message is redelivered when one of its webhooks fails. */
const maxItems = 32;
const maxSize = 256 * 1024;

/** Returns a `publish` for single entries. Entries of one event loop turn share one call and its result. */
export function batchPublishes(
  publish: (entries: readonly [SpoolEntry, ...SpoolEntry[]]) => Promise<boolean>,
): (entry: SpoolEntry) => Promise<boolean> {
  const batchers = new Map<string, Batcher<SpoolEntry, boolean>>();
  const idOf = ({ webhook }: SpoolEntry): string => webhook.facts.id;
  const create = (): Batcher<SpoolEntry, boolean> =>
    createBatcher({
      keyOf: idOf,
      sizeOf: ({ webhook }) => webhook.body?.length ?? 0,
      run: async (entries) => {
        const isStored = await publish(entries);
        return new Map(entries.map((entry) => [idOf(entry), isStored]));
      },
      maxItems,
      maxSize,
      maxParallel: Infinity,
    });

  return async (entry) => {
    const batcher = batchers.get(entry.subject) ?? create();
    batchers.set(entry.subject, batcher);
    return (await batcher.add(entry)) === true;
  };
}
