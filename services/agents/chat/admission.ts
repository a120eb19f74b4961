/** Limits of requests a minute for each visitor and each address (D71). */
import { AppError } from '#libs/errors';
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { admitMessage } from './statements/rate-limit.ts';

const limits = ['visitor', 'address'] as const;
export type ChatLimit = (typeof limits)[number];

/** Of one visitor from one address, and of one address; 0 = no limit. */
export type RequestsPerMinute = Readonly<Record<ChatLimit, number>>;

/** Counts a request under a key of its own. @throws AppError rate_limited */
export type Admit = (limit: ChatLimit, key: string) => Promise<void>;

export function createAdmit({ db, metrics, perMinute }: { db: Database; metrics: Metrics; perMinute: RequestsPerMinute }): Admit {
  const refusals = metrics.counter('chat_refused_total', 'Chat messages over a limit of messages a minute', { limit: limits });
  return async (limit, key) => {
    if (perMinute[limit] === 0) return;
    const { admitted, retryAfter } = await admitMessage(db, { key, limit: perMinute[limit] });
    if (admitted) return;
    refusals.inc({ limit });
    throw new AppError({ code: 'rate_limited', message: 'Too many messages. Try again later.', details: { retry_after: retryAfter } });
  };
}

/** An address without a known visitor counts by itself, so that leaving the id out does not lift the limit. */
export function visitorKey(agentId: number, visitorId: string, ip: string): string {
  return `${agentId}:${visitorId}:${ip}`;
}
