/** What YouTube's API says, read with suspicion: of an error the host's short reason alone. */
import { OutboundError, type OutboundReply } from '#libs/outbound';
import { parseRetryAfter } from '#libs/time';
import { VideoHostError } from './video-host.ts';

/** The quota is counted by day; it is asked for again after an hour. */
const quotaDelayMs = 3_600_000;
/** Delay after a 429 without a readable `Retry-After`, and the longest delay of one that has it. */
const defaultRetryAfterMs = 60_000;
const maxRetryAfterMs = 3_600_000;
const quotaReasons = new Set(['quotaExceeded', 'dailyLimitExceeded', 'uploadLimitExceeded', 'rateLimitExceeded', 'userRateLimitExceeded']);

export async function toError(reply: OutboundReply): Promise<VideoHostError> {
  const { status } = reply;
  const errors = property(property(await readJson(reply), 'error'), 'errors');
  const reason = shortWord(property(Array.isArray(errors) ? (errors[0] as unknown) : undefined, 'reason'));
  const message = `the host answered ${status}${reason === undefined ? '' : ` (${reason})`}`;
  if (reason !== undefined && quotaReasons.has(reason)) return new VideoHostError('busy', message, quotaDelayMs);
  const requestedMs = parseRetryAfter(reply.headers['retry-after'], Date.now()) ?? 0;
  const retryAfterMs = requestedMs > 0 ? Math.min(requestedMs, maxRetryAfterMs) : undefined;
  if (status === 429) return new VideoHostError('busy', message, retryAfterMs ?? defaultRetryAfterMs);
  return new VideoHostError(status >= 500 || status === 408 ? 'away' : 'refused', message, retryAfterMs);
}

/** Undefined for what is no JSON. */
export async function readJson(reply: OutboundReply): Promise<unknown> {
  try {
    return JSON.parse(await reply.text()) as unknown;
  } catch (error) {
    if (error instanceof OutboundError) throw new VideoHostError('away', error.message);
    return undefined;
  }
}

export function shortWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,60}$/.test(value) ? value : undefined;
}

export function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
