import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { delaysMs, failureLimitSeconds, retryDelayMs, signedHeaders } from './rules.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const middle = (): number => 0.5;

describe('retryDelayMs of a delivery (V6)', () => {
  it('returns the delays 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h', () => {
    const expected = [
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
    expect(expected.map((_delay, index) => retryDelayMs(index + 1, middle))).toEqual(expected);
  });

  it('returns undefined after the eleventh failed attempt', () => {
    expect(retryDelayMs(11, middle)).toBeUndefined();
    expect(retryDelayMs(1_000)).toBeUndefined();
  });

  it('varies each delay randomly by at most 25 %', () => {
    for (const [index, delay] of delaysMs.entries()) {
      expect(retryDelayMs(index + 1, () => 0)).toBe(delay * 0.75);
      expect(retryDelayMs(index + 1, () => 1)).toBe(delay * 1.25);
      for (let times = 0; times < 100; times++) {
        const actual = retryDelayMs(index + 1) ?? 0;
        expect(Math.abs(actual - delay)).toBeLessThanOrEqual(delay / 4);
      }
    }
    expect(new Set(Array.from({ length: 20 }, () => retryDelayMs(10))).size).toBeGreaterThan(1);
  });

  it('requires a shorter sum of all delays than the time after which a failing endpoint is disabled', () => {
    expect(failureLimitSeconds).toBe(5 * 24 * 3_600);
    const all = delaysMs.reduce((sum, delay) => sum + delay * 1.25, 0);
    expect(all / 1_000).toBeLessThan(failureLimitSeconds);
  });
});

describe('signedHeaders (V6)', () => {
  const atMs = Date.now();
  const secrets = [randomBytes(32), randomBytes(32)];
  const text = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;
  const body = '{"id":"evt_1","data":{"journey":"öffentlich"}}';

  it('signs a delivery with each secret like the reference library', () => {
    const headers = signedHeaders('evt_1', atMs, body, secrets);
    expect(headers['webhook-signature'].split(' ')).toEqual(
      secrets.map((secret) => new Webhook(text(secret)).sign('evt_1', new Date(atMs), body)),
    );
    for (const secret of secrets)
      expect(new Webhook(text(secret)).verify(body, { ...headers })).toEqual(JSON.parse(body));
  });

  it('returns one signature for one secret', () => {
    expect(signedHeaders('evt_1', atMs, body, [randomBytes(32)])['webhook-signature']).toMatch(
      /^v1,[A-Za-z0-9+/]{43}=$/,
    );
  });

  it('sends the time of the attempt in whole seconds', () => {
    expect(signedHeaders('evt_1', 1_700_000_000_999, body, secrets)['webhook-timestamp']).toBe('1700000000');
  });

  it.each([
    ['id', { 'webhook-id': 'evt_2' }, body],
    ['time', { 'webhook-timestamp': String(Math.floor(atMs / 1_000) - 1) }, body],
    ['body', {}, `${body} `],
  ])('returns a signature that is invalid for another %s', (_what, other, sent) => {
    const headers = { ...signedHeaders('evt_1', atMs, body, secrets), ...other };
    expect(() => new Webhook(text(secrets[0] ?? Buffer.of())).verify(sent, headers)).toThrow('No matching signature');
  });
});
