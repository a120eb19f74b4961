/** Rate limits per visitor and per address (D71). */
import { AppError } from '#libs/errors';
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { admitMessage } from './statements.ts';

const limits = ['visitor', 'address'] as const;
export type ChatLimit = (typeof limits)[number];

/** Messages per minute of one visitor at one address, and of one address; 0 = unlimited. */
export type RequestsPerMinute = Readonly<Record<ChatLimit, number>>;

/** Counts a message. @throws AppError rate_limited */
export type Admit = (limit: ChatLimit, key: string) => Promise<void>;

export function createAdmit({ db, metrics, perMinute }: { db: Database; metrics: Metrics; perMinute: RequestsPerMinute }): Admit {
  const refusals = metrics.counter('chat_refused_total', 'Chat messages rejected by a rate limit', { limit: limits });
  return async (limit, key) => {
    if (perMinute[limit] === 0) return;
    const { admitted, retryAfter } = await admitMessage(db, { key, limit: perMinute[limit] });
    if (admitted) return;
    refusals.inc({ limit });
    throw new AppError({ code: 'rate_limited', message: 'Too many messages. Try again later.', details: { retry_after: retryAfter } });
  };
}

/** Messages without a known visitor share a key per address, so that omitting the id does not lift the limit. */
export function visitorKey(agentId: number, visitorId: string, ip: string): string {
  return `${agentId}:${visitorId}:${ip}`;
}
