/** When an attempt is made again, and what it is signed with (rules/events#deliveries; V6). */
import { createHmac } from 'node:crypto';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Until the next attempt, after the first, the second, … that failed (V6). */
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
/** Endpoints that failed together do not all come again together. */
const jitter = 0.25;

/** Nothing but failures for so long disables an endpoint. */
export const failingTooLongSeconds = (5 * 24 * hour) / second;

/** @param failures attempts that failed, this one included. @returns undefined when there is no other one */
export function delayAfter(failures: number, random: () => number = Math.random): number | undefined {
  const delay = delaysMs[failures - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + jitter * (2 * random() - 1)));
}

/**
 * Headers of a delivery after Standard Webhooks: signatures over exactly the bytes that are sent, one for each secret, the newest first.
 * @param atMs time of this attempt
 */
export function signedHeaders(
  id: string,
  atMs: number,
  body: string,
  secrets: readonly Uint8Array[],
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(atMs / second));
  const sign = (secret: Uint8Array): string => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') };
}
