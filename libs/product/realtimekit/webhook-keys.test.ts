import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createOutbound, type Outbound } from '#libs/infrastructure/outbound';
import { createWebhookKeys } from '#libs/product/realtimekit';

const body = Buffer.from('{"event":"recording.statusUpdate"}');
const makePair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const signWith = (key: KeyObject): string => sign('RSA-SHA256', body, key).toString('base64');

let server: Server;
let outbound: Outbound;
let keyUrl: string;
let asked: number;
/** Key that the provider returns; undefined: the provider is unavailable. */
let shown: KeyObject | undefined;

beforeEach(async () => {
  asked = 0;
  server = createServer((_request, response) => {
    asked++;
    response.statusCode = shown === undefined ? 500 : 200;
    response.end(JSON.stringify({ data: { publicKey: shown?.export({ type: 'spki', format: 'pem' }) } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  keyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  outbound = createOutbound({ allowedHosts: '', baseUrls: [keyUrl] });
});
afterEach(async () => {
  await outbound.close();
  await new Promise((resolve) => server.close(resolve));
});

describe("the provider's webhook key (rules/providers#realtimekit; D64)", () => {
  it('requests the key once for many webhooks with any signatures', async () => {
    const { publicKey, privateKey } = makePair();
    shown = publicKey;
    const keys = createWebhookKeys({ outbound, publicKey: '', keyUrl });
    const signatures = Array.from({ length: 20 }, (_value, n) =>
      n % 2 === 0 ? signWith(privateKey) : signWith(makePair().privateKey),
    );
    const verdicts = await Promise.all(signatures.map((signature) => keys.isSigned(body, signature)));
    expect(verdicts).toEqual(signatures.map((_signature, n) => n % 2 === 0));
    expect(await keys.isSigned(body, undefined)).toBe(false);
    expect(asked).toBe(1);
  });

  it('does not retry for each webhook while the key is unavailable', async () => {
    shown = undefined;
    const keys = createWebhookKeys({ outbound, publicKey: '', keyUrl });
    const signature = signWith(makePair().privateKey);
    for (let n = 0; n < 20; n++) await expect(keys.isSigned(body, signature)).rejects.toThrow('cannot be read');
    expect(asked).toBe(1);
  });

  it('never requests a key that the setting contains', async () => {
    const { publicKey, privateKey } = makePair();
    const keys = createWebhookKeys({
      outbound,
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      keyUrl,
    });
    expect(await keys.isSigned(body, signWith(privateKey))).toBe(true);
    expect(await keys.isSigned(body, signWith(makePair().privateKey))).toBe(false);
    expect(asked).toBe(0);
  });
});
