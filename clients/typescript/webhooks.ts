/** Verifies webhooks that a receiver gets from the platform (Standard Webhooks). */
import type { PlatformEvent } from './event-types.ts';

/** The signature is invalid or too old: return 400 or 401 and ignore the content. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** The event that a test of a webhook endpoint sends. */
export interface WebhookTestEvent extends Omit<PlatformEvent, 'type' | 'subject' | 'data'> {
  readonly type: 'webhook_endpoint.test';
  readonly subject: { readonly type: 'webhook_endpoint'; readonly id: number };
  readonly data: Readonly<Record<string, never>>;
}

/** A delivered event; `type` determines the type of `data`. Later releases can send other types. */
export type WebhookEvent = PlatformEvent | WebhookTestEvent;

export interface ReceivedWebhook {
  /** Headers of the request, as `Headers` or as an object. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body, as bytes or text. Do not parse and serialize it again. */
  readonly body: string | Uint8Array<ArrayBuffer>;
}

export interface WebhookOptions {
  /** Maximum difference between the timestamp and now in seconds; default 300. */
  readonly toleranceSeconds?: number;
  /** The current time in epoch milliseconds; default: the system clock. */
  readonly nowMs?: number;
}

const prefix = 'whsec_';
const usualToleranceSeconds = 300;
const maxSignatures = 16;

/**
 * Verifies the signature with the secret of the endpoint, or with one of several secrets during a rotation. Returns the
 * event, whose `id` equals the header `webhook-id` and is the same for every attempt.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  { headers, body }: ReceivedWebhook,
  { toleranceSeconds = usualToleranceSeconds, nowMs = Date.now() }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const read = (name: string): string => readHeader(headers, name);
  const id = read('webhook-id');
  const timestamp = read('webhook-timestamp');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a number of seconds');
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > toleranceSeconds) throw new WebhookVerificationError('webhook-timestamp is outside the tolerance');
  const encoder = new TextEncoder();
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  const head = encoder.encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const signatures = readSignatures(read('webhook-signature'));
  for (const text of typeof secret === 'string' ? [secret] : secret) {
    const bytesOfKey = decode(text.startsWith(prefix) ? text.slice(prefix.length) : text);
    if (bytesOfKey === undefined || bytesOfKey.length === 0) throw new TypeError('the secret must be whsec_ followed by base64');
    const key = await crypto.subtle.importKey('raw', bytesOfKey, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    // All signatures are compared in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  }
  throw new WebhookVerificationError('no signature matches the secret');
}

function readHeader(headers: ReceivedWebhook['headers'], name: string): string {
  const found =
    headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof found !== 'string' || found === '') throw new WebhookVerificationError(`the header ${name} is missing`);
  return found;
}

/** Returns the signatures of version 1; ignores other versions. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((item) => (item.startsWith('v1,') ? (decode(item.slice('v1,'.length)) ?? []) : []));
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
