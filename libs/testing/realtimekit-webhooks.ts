/** Webhooks of the played meeting provider: bodies with the headers that it signs them with, and the document of its key. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

export interface WebhookSender {
  /** The path of the key's document. */
  readonly keyPath: string;
  keyDocument(): unknown;
  /** Public key in PEM. */
  readonly publicKey: string;
  /** Headers of a delivery of exactly this body. */
  headers(body: string, deliveryId?: string): Record<string, string>;
}

export function createWebhookSender(): WebhookSender {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  return {
    keyPath: '/.well-known/webhooks.json',
    keyDocument: () => ({ success: true, data: { publicKey: pem } }),
    publicKey: pem,
    headers: (body, deliveryId = randomUUID()) => ({
      'content-type': 'application/json',
      'rtk-webhook-id': 'webhook-1',
      'rtk-uuid': deliveryId,
      'rtk-signature': sign('RSA-SHA256', Buffer.from(body), privateKey).toString('base64'),
    }),
  };
}
