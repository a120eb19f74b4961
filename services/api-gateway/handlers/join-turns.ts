/**
 * Webhooks of one kind that come in one turn of the event loop go to the broker as one message, which it syncs once
 * (docs/adr/what-one-turn-sends-travels-together.md).
 */
import type { SpoolEntry } from './webhook-spool.ts';

type Entries = [SpoolEntry, ...SpoolEntry[]];

interface Bundle {
  readonly entries: Entries;
  bytes: number;
  readonly stored: Promise<boolean>;
}

/** One that is redelivered for one of its webhooks stays small. */
const maxEntries = 32;
const maxBytes = 256 * 1024;

/** `publish` for single entries: those of a turn, as many as fit into one message, share one call and its answer. */
export function joinTurns(publish: (entries: Readonly<Entries>) => Promise<boolean>): (entry: SpoolEntry) => Promise<boolean> {
  const open = new Map<string, Bundle>();

  const begin = (entry: SpoolEntry): Bundle => {
    const entries: Entries = [entry];
    const stored = new Promise<boolean>((resolve) => {
      setImmediate(() => {
        if (open.get(entry.subject)?.entries === entries) open.delete(entry.subject);
        resolve(publish(entries));
      });
    });
    const bundle = { entries, bytes: 0, stored };
    open.set(entry.subject, bundle);
    return bundle;
  };

  return (entry) => {
    const size = entry.webhook.body?.length ?? 0;
    const last = open.get(entry.subject);
    const fits = last !== undefined && last.entries.length < maxEntries && last.bytes + size <= maxBytes;
    if (fits) last.entries.push(entry);
    const bundle = fits ? last : begin(entry);
    bundle.bytes += size;
    return bundle.stored;
  };
}
