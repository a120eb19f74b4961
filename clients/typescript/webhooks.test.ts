import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookVerificationError } from './index.ts';

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const event = { id: 'evt_1', type: 'conversation.created', data: { journey: 'öffentlich' } };
const body = JSON.stringify(event, null, 1);

/** Signs with the reference library of Standard Webhooks. */
function sign(at = new Date(), by = secret, id = 'evt_1'): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  };
}
const secondsAgo = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);

describe('verifyWebhook (rules/events#deliveries; V6, V8)', () => {
  it('returns the event of a webhook signed per Standard Webhooks, for every supported type of headers and body', async () => {
    const headers = sign();
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const given of [headers, new Headers(headers), upper]) expect(await verifyWebhook(secret, { headers: given, body })).toEqual(event);
    expect(await verifyWebhook(secret, { headers, body: new TextEncoder().encode(body) })).toEqual(event);
    expect(await verifyWebhook(secret.slice('whsec_'.length), { headers, body })).toEqual(event);
  });

  it('infers the type of `data` from the event type, also for test events', async () => {
    const received = await verifyWebhook(secret, { headers: sign(), body });
    if (received.type === 'person.merged') expect(received.data.into satisfies number).toBeDefined();
    if (received.type === 'webhook_endpoint.test') expect(received.subject.id satisfies number).toBeDefined();
    expect(received.type satisfies `${string}.${string}`).toBe('conversation.created');
    // @ts-expect-error there is no such type
    expect(received.type === 'person.marged').toBe(false);
  });

  it('accepts a webhook when one of several signatures matches one of several secrets', async () => {
    const other = newSecret();
    const both = { ...sign(), 'webhook-signature': `v1a,AAAA ${sign(new Date(), other)['webhook-signature']} ${sign()['webhook-signature']}` };
    expect(await verifyWebhook(secret, { headers: both, body })).toEqual(event);
    expect(await verifyWebhook([other, secret], { headers: sign(), body })).toEqual(event);
  });

  it.each([
    ['another secret', { headers: sign(new Date(), newSecret()) }],
    ['another body', { body: JSON.stringify(event) }],
    ['another id', { headers: { ...sign(), 'webhook-id': 'evt_2' } }],
    ['another time', { headers: { ...sign(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 1) } }],
    ['an old time', { headers: sign(secondsAgo(400)) }],
    ['a time that is to come', { headers: sign(secondsAgo(-400)) }],
    ['no time', { headers: { ...sign(), 'webhook-timestamp': 'now' } }],
    ['no id', { headers: { ...sign(), 'webhook-id': undefined } }],
    ['no signature', { headers: { ...sign(), 'webhook-signature': '' } }],
    ['a signature of another version', { headers: { ...sign(), 'webhook-signature': sign()['webhook-signature']?.replace('v1,', 'v2,') } }],
    ['a signature that is no base64', { headers: { ...sign(), 'webhook-signature': 'v1,%%%' } }],
    ['a beginning of a signature', { headers: { ...sign(), 'webhook-signature': sign()['webhook-signature']?.slice(0, 11) } }],
  ])('rejects a webhook with %s', async (_what, wrong) => {
    await expect(verifyWebhook(secret, { headers: sign(), body, ...wrong })).rejects.toThrow(WebhookVerificationError);
  });

  it('uses the specified timestamp tolerance, and rejects an invalid secret', async () => {
    expect(await verifyWebhook(secret, { headers: sign(secondsAgo(400)), body }, { toleranceSeconds: 500 })).toEqual(event);
    expect(await verifyWebhook(secret, { headers: sign(secondsAgo(4_000)), body }, { nowMs: Date.now() - 4_000_000 })).toEqual(event);
    for (const none of ['', 'whsec_', 'whsec_%%%']) await expect(verifyWebhook(none, { headers: sign(), body })).rejects.toThrow(TypeError);
  });
});
