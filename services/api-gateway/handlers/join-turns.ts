/**
 * Webhooks of one kind that come in one turn of the event loop go to the broker as one message, which it syncs once
 * (docs/performance-notes.md#batching-per-event-loop-turn).
 */
import { type Batcher, createBatcher } from '#libs/concurrency';
import type { SpoolEntry } from './webhook-spool.ts';

/** One that is redelivered for one of its webhooks stays small. */
const maxItems = 32;
const maxSize = 256 * 1024;

/** `publish` for single entries: those of a turn, as many as fit into one message, share one call and its answer. */
export function joinTurns(
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
