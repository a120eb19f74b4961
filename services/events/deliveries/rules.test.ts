/** When an attempt is made again, and its signature (V6). */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { delayAfter, delaysMs, failingTooLongSeconds, signedHeaders } from './rules.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const middle = (): number => 0.5;

describe('delayAfter (V6)', () => {
  it('is 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h', () => {
    const wanted = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 24 * hour];
    expect(wanted.map((_delay, index) => delayAfter(index + 1, middle))).toEqual(wanted);
  });

  it('ends with the eleventh attempt that failed', () => {
    expect(delayAfter(11, middle)).toBeUndefined();
    expect(delayAfter(1_000)).toBeUndefined();
  });

  it('is at most a quarter earlier or later, and not always the same', () => {
    for (const [index, delay] of delaysMs.entries()) {
      expect(delayAfter(index + 1, () => 0)).toBe(delay * 0.75);
      expect(delayAfter(index + 1, () => 1)).toBe(delay * 1.25);
      for (let times = 0; times < 100; times++) {
        const found = delayAfter(index + 1) ?? 0;
        expect(Math.abs(found - delay)).toBeLessThanOrEqual(delay / 4);
      }
    }
    expect(new Set(Array.from({ length: 20 }, () => delayAfter(10))).size).toBeGreaterThan(1);
  });

  it('leaves time for all attempts of the first days before nothing but failures disables an endpoint', () => {
    expect(failingTooLongSeconds).toBe(5 * 24 * 3_600);
    const all = delaysMs.reduce((sum, delay) => sum + delay * 1.25, 0);
    expect(all / 1_000).toBeLessThan(failingTooLongSeconds);
  });
});

describe('signedHeaders (V6)', () => {
  const atMs = Date.now();
  const secrets = [randomBytes(32), randomBytes(32)];
  const text = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;
  const body = '{"id":"evt_1","data":{"journey":"öffentlich"}}';

  it('are those of the reference library, for each secret', () => {
    const headers = signedHeaders('evt_1', atMs, body, secrets);
    expect(headers['webhook-signature'].split(' ')).toEqual(
      secrets.map((secret) => new Webhook(text(secret)).sign('evt_1', new Date(atMs), body)),
    );
    for (const secret of secrets) expect(new Webhook(text(secret)).verify(body, { ...headers })).toEqual(JSON.parse(body));
  });

  it('have one signature when there is one secret', () => {
    expect(signedHeaders('evt_1', atMs, body, [randomBytes(32)])['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  });

  it('have the time of the attempt in whole seconds, as it is signed', () => {
    expect(signedHeaders('evt_1', 1_700_000_000_999, body, secrets)['webhook-timestamp']).toBe('1700000000');
  });

  it.each([
    ['id', { 'webhook-id': 'evt_2' }, body],
    ['time', { 'webhook-timestamp': String(Math.floor(atMs / 1_000) - 1) }, body],
    ['body', {}, `${body} `],
  ])('do not fit another %s', (_what, other, sent) => {
    const headers = { ...signedHeaders('evt_1', atMs, body, secrets), ...other };
    expect(() => new Webhook(text(secrets[0] ?? Buffer.of())).verify(sent, headers)).toThrow('No matching signature');
  });
});
