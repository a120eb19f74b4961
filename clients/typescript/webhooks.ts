/** Webhooks of the platform at who receives them: whether they are genuine (Standard Webhooks). */
import type { PlatformEvent } from './event-types.ts';

/** The webhook is not genuine, or too old: answer it with 400 or 401, and look at nothing in it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** What the `test` of an endpoint sends. */
export interface WebhookTestEvent extends Omit<PlatformEvent, 'type' | 'subject' | 'data'> {
  readonly type: 'webhook_endpoint.test';
  readonly subject: { readonly type: 'webhook_endpoint'; readonly id: number };
  readonly data: Readonly<Record<string, never>>;
}

/** An event that was sent; `type` tells the type of `data`. There may be types of a later release. */
export type WebhookEvent = PlatformEvent | WebhookTestEvent;

export interface ReceivedWebhook {
  /** Of the request, in whatever form the server has them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came: bytes, or the text of these. JSON that was parsed and written again is another body. */
  readonly body: string | Uint8Array<ArrayBuffer>;
}

export interface WebhookOptions {
  /** How far the time of the webhook may be from now; default 300 s. */
  readonly toleranceSeconds?: number;
  /** Epoch milliseconds; default: now. */
  readonly nowMs?: number;
}

const prefix = 'whsec_';
const usualToleranceSeconds = 300;
const maxSignatures = 16;

/**
 * The event of a webhook that was signed with the secret of the endpoint, or with one of several while it is being changed. `webhook-id`, which is
 * the event's `id`, is the same for every repetition.
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
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is no time');
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > toleranceSeconds) throw new WebhookVerificationError('webhook-timestamp is too far from now');
  const encoder = new TextEncoder();
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  const head = encoder.encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const signatures = readSignatures(read('webhook-signature'));
  for (const text of typeof secret === 'string' ? [secret] : secret) {
    const bytesOfKey = decode(text.startsWith(prefix) ? text.slice(prefix.length) : text);
    if (bytesOfKey === undefined || bytesOfKey.length === 0) throw new TypeError('the secret is no whsec_ and base64');
    const key = await crypto.subtle.importKey('raw', bytesOfKey, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    // Compares in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  }
  throw new WebhookVerificationError('no signature is of this secret');
}

function readHeader(headers: ReceivedWebhook['headers'], name: string): string {
  const found =
    headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof found !== 'string' || found === '') throw new WebhookVerificationError(`there is no header ${name}`);
  return found;
}

/** Those of the version 1; there may be others. */
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
