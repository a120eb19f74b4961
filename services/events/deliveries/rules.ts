/** Retry delays and signatures of deliveries (rules/events#deliveries; V6). */
import { createHmac } from 'node:crypto';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays after the first, second … failed attempt (V6). */
export const delaysMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  24 * hour,
];
/** Relative deviation of a delay. It spreads the retries of deliveries that failed together. */
const jitter = 0.25;

/** An endpoint is disabled when all attempts fail for this long. */
export const failureLimitSeconds = (5 * 24 * hour) / second;

/**
 * Returns the delay before the next attempt. @param failures number of failed attempts. @returns undefined after the
 * last attempt
 */
export function retryDelayMs(failures: number, random: () => number = Math.random): number | undefined {
  const delay = delaysMs[failures - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + jitter * (2 * random() - 1)));
}

/**
 * Returns the headers of Standard Webhooks. The signatures cover exactly the bytes that are sent, one per secret,
 * newest secret first.
 * @param atMs time of the attempt
 */
export function signedHeaders(
  id: string,
  atMs: number,
  body: string,
  secrets: readonly Uint8Array[],
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(atMs / second));
  const sign = (secret: Uint8Array): string =>
    `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') };
}
