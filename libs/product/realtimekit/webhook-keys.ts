/**
 * Verifies webhooks of the provider: RSA-SHA256 over the raw body, in base64 (rules/providers#realtimekit-webhooks).
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { unavailable } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import { OutboundError, type Outbound } from '#libs/infrastructure/outbound';

export interface WebhookKeys {
  /**
   * Returns whether the provider signed these bytes. @throws AppError `unavailable` while the provider's key cannot be
   * read
   */
  isSigned(body: Uint8Array, signature: string | undefined): Promise<boolean>;
}

/**
 * Minimum interval between refreshes of the key. A refresh follows a signature mismatch, which can mean that the key
 * was replaced.
 */
const refreshMs = 60_000;
/** Interval between retries after the key could not be read. */
const retryMs = 5_000;
const timeoutMs = 10_000;

/**
 * Uses the key in `publicKey`, or reads the key from `keyUrl` if `publicKey` is empty. @throws Error when `publicKey`
 * is not a public key in PEM
 */
export function createWebhookKeys(options: { outbound: Outbound; publicKey: string; keyUrl: string }): WebhookKeys {
  const given = options.publicKey === '' ? undefined : createPublicKey(options.publicKey.replaceAll('\\n', '\n'));
  let key = given;
  let latest: { readonly reading: Promise<KeyObject>; readonly atMs: number } | undefined;
  /** Reads the key, at most once per `pauseMs`, so that forged webhooks cannot cause more requests. */
  const readKey = async (pauseMs: number): Promise<KeyObject> => {
    if (given !== undefined) return given;
    const now = performance.now();
    if (latest === undefined || latest.atMs < now - pauseMs) latest = { reading: fetchKey(options), atMs: now };
    return (key = await latest.reading);
  };
  return {
    isSigned: async (body, signature) => {
      if (signature === undefined || !/^[A-Za-z0-9+/]{1,2048}={0,2}$/.test(signature)) return false;
      const bytes = Buffer.from(signature, 'base64');
      const first = key ?? (await readKey(retryMs));
      if (verify('RSA-SHA256', body, first, bytes)) return true;
      const second = await readKey(refreshMs);
      return second !== first && verify('RSA-SHA256', body, second, bytes);
    },
  };
}

async function fetchKey({ outbound, keyUrl }: { outbound: Outbound; keyUrl: string }): Promise<KeyObject> {
  try {
    const reply = await outbound.request({ url: keyUrl, timeoutMs });
    const text = await reply.text();
    const body: unknown = reply.status === 200 ? JSON.parse(text) : undefined;
    const data = isJsonObject(body) ? body['data'] : undefined;
    const pem = isJsonObject(data) ? data['publicKey'] : isJsonObject(body) ? body['publicKey'] : undefined;
    if (typeof pem === 'string') return createPublicKey(pem);
  } catch (error) {
    if (error instanceof OutboundError) throw unavailable(error.message);
  }
  throw unavailable("the meeting provider's webhook key cannot be read");
}
