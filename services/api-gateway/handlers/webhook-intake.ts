/**
 * Intake of webhooks: stores every webhook durably and responds 200 (rules/bookings#booking-webhook; D20 and D33d). It
 * tries the broker twice, then the disk spool, and uses memory only when both fail. Webhooks on disk are published
 * before later ones of this process.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#libs/infrastructure/logger';
import type { RouteInput } from '#libs/infrastructure/contract';
import { type HttpContext, readRawBody, ByteBudget, type RouteHandler } from '#libs/infrastructure/http';
import type { Bus } from '#libs/infrastructure/nats';
import { packWebhooks } from '#libs/product/webhooks';
import { type Counter, type Metrics, newRequestId } from '#libs/infrastructure/telemetry';
import { batchPublishes } from './batch-publishes.ts';
import { openSpool, type SpoolEntry, type WebhookSpool } from './webhook-spool.ts';

export interface WebhookKind {
  readonly subject: string;
  /** Lower-case names of the stored headers. */
  readonly headers: readonly string[];
  /**
   * Lower-case name of the header with a shared secret. Only the HMAC-SHA256 of the secret, keyed with the delivery id,
   * is stored as `secret_digest`; the owning service compares it.
   */
  readonly secretHeader?: string;
}

export interface WebhookIntake {
  /** Returns the handler of a route. Path parameters become fields of the message. */
  handler(kind: WebhookKind): RouteHandler<RouteInput, { ok: true }>;
  /** Webhooks on disk and in memory. */
  readonly spool: { readonly entries: number; readonly bytes: number };
  stop(): Promise<void>;
}

/** Timeout of the broker's acknowledgement, per attempt. */
const publishTimeoutsMs = [1_500, 2_500];
const drainIntervalMs = 1_000;
/** How long a webhook waits for the spool to empty before the webhook is added to the spool. */
const emptySpoolTimeoutMs = 250;
/**
 * Bytes of all bodies that are received or stored at once. Further requests wait; typical webhooks have a few KiB and
 * do not wait.
 */
const maxBodiesBytes = 64 * 1024 * 1024;
/** Limit of the memory that is used when neither broker nor disk can store webhooks. */
const maxFallbackBytes = 64 * 1024 * 1024;

/** Opens the spool in `dir` and drains it whenever the broker is connected. */
export async function createWebhookIntake(options: {
  bus: Bus;
  dir: string;
  maxSpoolBytes: number;
  logger: Logger;
  metrics: Metrics;
}): Promise<WebhookIntake> {
  const { bus, logger, metrics } = options;
  /** Publishes entries as one message, with the subject and id of the first entry. */
  const send = async (entries: readonly [SpoolEntry, ...SpoolEntry[]], timeoutMs = 5_000): Promise<void> => {
    const [{ subject, webhook }] = entries;
    await bus.publishDurable(subject, packWebhooks(entries.map((entry) => entry.webhook)), {
      msgId: webhook.facts.id,
      timeoutMs,
    });
  };
  const sendOne = (entry: SpoolEntry): Promise<void> => send([entry]);
  const spool = await openSpool({ dir: options.dir, maxBytes: options.maxSpoolBytes, logger, send: sendOne });
  const counts = metrics.counter('webhook_intake_total', 'Webhooks by where they were stored', {
    stored: ['broker', 'spool', 'memory', 'lost'],
  });
  const fallback = new InMemoryFallback(spool, sendOne, logger, counts);
  metrics.gauge('webhook_spool_entries', 'Webhooks on the local disk', [], (gauge) => gauge.set(spool.size.entries));
  metrics.gauge('webhook_spool_bytes', 'Bytes that webhooks take on the local disk', [], (gauge) =>
    gauge.set(spool.size.bytes),
  );
  metrics.gauge('webhook_spool_max_bytes', 'Bytes that they may take', [], (gauge) => gauge.set(options.maxSpoolBytes));
  metrics.gauge('webhook_held_entries', 'Webhooks in memory only; not durable', [], (gauge) =>
    gauge.set(fallback.count),
  );
  const bodies = new ByteBudget(maxBodiesBytes);

  const publish = batchPublishes(async (entries: readonly [SpoolEntry, ...SpoolEntry[]]): Promise<boolean> => {
    for (const timeoutMs of publishTimeoutsMs) {
      try {
        await send(entries, timeoutMs);
        counts.inc({ stored: 'broker' }, entries.length);
        return true;
      } catch (error) {
        const ids = entries.map((entry) => entry.webhook.facts.id);
        if (timeoutMs === publishTimeoutsMs.at(-1)) logger.warn({ err: error, ids }, 'broker did not store webhooks');
      }
    }
    return false;
  });

  const isEmptied = (): boolean => spool.size.entries + fallback.count === 0;

  /** Returns whether all earlier webhooks are published. Otherwise messages of a chat could be reordered (D32). */
  const waitForTurn = async (): Promise<boolean> => {
    if (isEmptied() || !bus.connected || isFailing) return isEmptied();
    await Promise.race([drain(), sleep(emptySpoolTimeoutMs, undefined, { ref: false })]);
    return isEmptied();
  };

  const store = async (entry: SpoolEntry): Promise<void> => {
    if ((await waitForTurn()) && (await publish(entry))) return;
    try {
      await spool.add(entry);
      counts.inc({ stored: 'spool' }, 1);
    } catch (error) {
      fallback.add(entry, error);
    }
  };

  /**
   * While the broker's stream is full, only the timer retries, so that incoming webhooks do not read the directory each
   * time.
   */
  let isFailing = false;
  const drain = async (): Promise<void> => {
    try {
      await fallback.retry();
      if (bus.connected && spool.size.entries > 0) await spool.drain();
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        logger.warn({ err: error, entries: spool.size.entries }, 'webhook spool cannot be drained yet; trying again');
      isFailing = true;
    }
  };
  const timer = setInterval(() => void drain(), drainIntervalMs);
  const forgetListener = bus.onReconnect(() => void drain());
  void drain();

  return {
    get spool() {
      return { entries: spool.size.entries + fallback.count, bytes: spool.size.bytes + fallback.bytes };
    },
    handler:
      (kind) =>
      async ({ ctx, input, call, answer }) => {
        const { bytes, release } = await readRawBody(ctx, bodies);
        try {
          const id = newRequestId();
          const facts = {
            id,
            received_at: new Date().toISOString(),
            ...input.params,
            headers: pickHeaders(ctx, kind.headers),
            ...(kind.secretHeader === undefined ? {} : { secret_digest: digestHeader(ctx, kind.secretHeader, id) }),
          };
          await store({
            subject: kind.subject,
            webhook: { facts, traceparent: call.traceparent, body: bytes ?? null },
          });
        } finally {
          release();
        }
        answer({ ok: true });
      },
    stop: async () => {
      clearInterval(timer);
      forgetListener();
      await fallback.retry().catch(() => undefined);
      fallback.reportLoss();
    },
  };
}

function pickHeaders(ctx: HttpContext, names: readonly string[]): Record<string, string> {
  const { headers } = ctx.req;
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function digestHeader(ctx: HttpContext, name: string, key: string): string | null {
  const value = ctx.req.headers[name];
  return typeof value === 'string' ? createHmac('sha256', key).update(value).digest('hex') : null;
}

/** Last resort for webhooks that cannot be stored: not durable, logged, and emptied as soon as possible. */
class InMemoryFallback {
  readonly #spool: WebhookSpool;
  readonly #send: (entry: SpoolEntry) => Promise<void>;
  readonly #logger: Logger;
  readonly #counts: Counter<string>;
  #entries: { readonly entry: SpoolEntry; readonly size: number }[] = [];
  #bytes = 0;

  constructor(
    spool: WebhookSpool,
    send: (entry: SpoolEntry) => Promise<void>,
    logger: Logger,
    counts: Counter<string>,
  ) {
    this.#spool = spool;
    this.#send = send;
    this.#logger = logger;
    this.#counts = counts;
  }

  get count(): number {
    return this.#entries.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(entry: SpoolEntry, cause: unknown): void {
    const size = packWebhooks([entry.webhook]).length;
    const fits = this.#bytes + size <= maxFallbackBytes;
    this.#counts.inc({ stored: fits ? 'memory' : 'lost' }, 1);
    this.#logger.error(
      { err: cause, id: entry.webhook.facts.id, subject: entry.subject },
      fits ? 'webhook is held in memory only' : 'webhook is lost',
    );
    if (!fits) return;
    this.#entries.push({ entry, size });
    this.#bytes += size;
  }

  /**
   * Sends the entries to the broker or stores them on disk, in order. @throws when neither broker nor disk can store
   * them
   */
  async retry(): Promise<void> {
    for (let first = this.#entries[0]; first !== undefined; first = this.#entries[0]) {
      const { entry, size } = first;
      await this.#send(entry).catch(() => this.#spool.add(entry));
      if (this.#entries[0] !== first) continue;
      this.#entries.shift();
      this.#bytes -= size;
    }
  }

  reportLoss(): void {
    for (const { entry } of this.#entries)
      this.#logger.fatal(
        { id: entry.webhook.facts.id, subject: entry.subject },
        'webhook is lost: neither broker nor disk stored it before shutdown',
      );
  }
}
