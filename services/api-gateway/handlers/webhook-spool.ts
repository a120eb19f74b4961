/**
 * Stores webhooks on local disk while the broker is unavailable (D20). A file is valid once it has its final name and
 * the directory is synced. It is removed after the broker stored its message. A message that is published twice after a
 * crash is deduplicated by its id.
 */
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#libs/infrastructure/logger';
import { packWebhooks, unpackWebhooks, type Webhook } from '#libs/product/webhooks';

export interface SpoolEntry {
  readonly subject: string;
  /** The id consists of letters, digits and `-`. */
  readonly webhook: Webhook;
}

export interface WebhookSpool {
  /** Stores an entry durably. @throws Error when the disk or the spool is full */
  add(entry: SpoolEntry): Promise<void>;
  /** Publishes entries, oldest first, until one fails. Concurrent calls share one run. */
  drain(): Promise<void>;
  /** Number of entries, and their bytes on disk. */
  readonly size: { readonly entries: number; readonly bytes: number };
}

const entrySuffix = '.webhook';
const partSuffix = '.part';
const badSuffix = '.bad';
/** Age at which partial files are removed. Another replica that shares the disk can still be writing a younger file. */
const stalePartMs = 3_600_000;
/** Files occupy whole blocks; nearly all file systems use 4 KiB. */
const blockBytes = 4096;

/** Opens the spool in `dir`, including entries of earlier processes. */
export async function openSpool(options: {
  dir: string;
  maxBytes: number;
  logger: Logger;
  /** Stores an entry in the broker. @throws when the broker is unavailable */
  send: (entry: SpoolEntry) => Promise<void>;
}): Promise<WebhookSpool> {
  const { dir, maxBytes, logger, send } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const sizes = await readSizes(dir);
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  let running: Promise<void> | undefined;
  let counter = 0;

  const forget = (name: string): void => {
    bytes -= sizes.get(name) ?? 0;
    sizes.delete(name);
  };

  const sendFile = async (name: string): Promise<void> => {
    const entry = await readEntry(join(dir, name));
    if (entry === 'gone') return forget(name);
    if (entry === 'unreadable') {
      logger.error({ file: name }, 'spooled webhook is unreadable and set aside');
      await rename(join(dir, name), join(dir, name + badSuffix));
      return forget(name);
    }
    await send(entry);
    await rm(join(dir, name), { force: true });
    forget(name);
  };

  const drainOnce = async (): Promise<void> => {
    const names = (await readdir(dir)).filter((name) => name.endsWith(entrySuffix)).toSorted();
    for (const name of names) await sendFile(name);
    if (names.length > 0) logger.info({ entries: names.length }, 'webhook spool drained');
  };

  return {
    get size() {
      return { entries: sizes.size, bytes };
    },
    add: async (entry) => {
      const content = encodeEntry(entry);
      const size = sizeOnDisk(content.length);
      if (bytes + size > maxBytes) throw new Error(`the webhook spool holds ${bytes} bytes of ${maxBytes}`);
      // Names sort by time of receipt: milliseconds since the epoch have 13 digits until the year 2286.
      const name = `${Date.now()}-${String(counter++ % 1_000_000).padStart(6, '0')}-${entry.webhook.facts.id}${entrySuffix}`;
      sizes.set(name, size);
      bytes += size;
      try {
        await writeDurably(dir, name, content);
      } catch (error) {
        forget(name);
        throw error;
      }
    },
    drain: () => (running ??= drainOnce().finally(() => (running = undefined))),
  };
}

function sizeOnDisk(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

async function readSizes(dir: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const name of await readdir(dir)) {
    const facts = await stat(join(dir, name)).catch(() => undefined);
    if (facts === undefined) continue;
    if (name.endsWith(partSuffix)) {
      if (Date.now() - facts.mtimeMs > stalePartMs) await rm(join(dir, name), { force: true });
    } else if (name.endsWith(entrySuffix)) sizes.set(name, sizeOnDisk(facts.size));
  }
  return sizes;
}

/** Writes a file atomically and durably. */
async function writeDurably(dir: string, name: string, content: Buffer): Promise<void> {
  const part = join(dir, name + partSuffix);
  try {
    const file = await open(part, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, join(dir, name));
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function readEntry(path: string): Promise<SpoolEntry | 'gone' | 'unreadable'> {
  try {
    return decodeEntry(await readFile(path)) ?? 'unreadable';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'gone';
    throw error;
  }
}

/** Returns a line with the subject, followed by the message as it is published. */
function encodeEntry({ subject, webhook }: SpoolEntry): Buffer {
  return Buffer.concat([Buffer.from(`${subject}\n`), packWebhooks([webhook])]);
}

function decodeEntry(content: Buffer): SpoolEntry | undefined {
  const end = content.indexOf('\n');
  const [webhook, ...more] = unpackWebhooks(content.subarray(end + 1)) ?? [];
  return end > 0 && webhook !== undefined && more.length === 0
    ? { subject: content.toString('utf8', 0, end), webhook }
    : undefined;
}
