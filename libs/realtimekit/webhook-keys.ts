/** Signatures of the provider's webhooks: RSA-SHA256 over the raw body, in base64 (rules/providers#realtimekit-webhooks). */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { unavailable } from '#libs/errors';
import { isJsonObject } from '#libs/json';
import { OutboundError, type Outbound } from '#libs/outbound';

export interface WebhookKeys {
  /** Whether the provider signed these bytes. @throws AppError unavailable when its key cannot be read now */
  isSigned(body: Uint8Array, signature: string | undefined): Promise<boolean>;
}

/** A key that has been replaced is noticed by a signature that does not fit, but no more often than this. */
const refreshMs = 60_000;
/** A key that could not be read is asked for again after this. */
const retryMs = 5_000;
const timeoutMs = 10_000;

/**
 * Keys from the setting, else from the provider's address.
 * @throws Error when `publicKey` is no public key in PEM.
 */
export function createWebhookKeys(options: { outbound: Outbound; publicKey: string; keyUrl: string }): WebhookKeys {
  const given = options.publicKey === '' ? undefined : createPublicKey(options.publicKey.replaceAll('\\n', '\n'));
  let key = given;
  let latest: { readonly reading: Promise<KeyObject>; readonly atMs: number } | undefined;
  /** Asks the provider, unless that was done within `pauseMs`: whoever posts anything must not make it happen more often. */
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
