/**
 * Denial of login (OWASP API4:2023, API2:2023; D76): a client that guesses keys or passwords delays only itself. The
 * attacker shares an address with all clients (a proxy that appends no address), has the gate key, has many addresses,
 * or many connections.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, type Answer, type TestPlatform } from '../e2e/test-platform.ts';
import { readMetric, startTarget } from './attacker.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTarget(
    import.meta.url,
    { RATE_LIMIT_LOGIN_PER_MINUTE: '20', RATE_LIMIT_LOGIN_FAILURES: '5', TRUSTED_PROXY_HOPS: '1' },
    { services: ['api-gateway', 'directory'] },
  );
  await applyDemo(platform, 'door');
});
afterAll(() => platform.stop());

interface LoginAttempt {
  readonly email?: string;
  readonly password?: string;
  /** `null` sends no key. */
  readonly key?: string | null;
  /** Client address as reported by the proxy. */
  readonly from?: string;
}

function post({
  email = 'ada-door@example.org',
  password = 'wrong',
  key = platform.loginSecret,
  from = '192.0.2.1',
}: LoginAttempt): Promise<Answer> {
  const headers = { 'x-forwarded-for': from, ...(key === null ? {} : { 'x-svc-api-key': key }) };
  return platform.call('POST', '/api/v1/auth/login', { token: null, headers, json: { email, password } });
}
const postMany = async (attempts: readonly LoginAttempt[]): Promise<number[]> =>
  (await Promise.all(attempts.map(post))).map(({ status }) => status);
const owner = (from: string): Promise<Answer> => post({ password: 'secret-of-ada-door', from });
const times = (count: number, attempt: (index: number) => LoginAttempt): LoginAttempt[] =>
  Array.from({ length: count }, (_value, index) => attempt(index));

describe('POST /auth/login under attack (D76)', () => {
  it('accepts logins from an address that also sends posts with wrong gate keys', async () => {
    const from = '198.51.100.7';
    const statuses = await postMany(times(60, (index) => ({ from, key: index % 2 === 0 ? null : `guess-${index}` })));
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(20);
    expect((await owner(from)).status).toBe(200);
  });

  it("does not let a caller with the gate key lock another caller's account", async () => {
    const statuses = await postMany(times(40, (index) => ({ from: `203.0.113.${index % 20}` })));
    expect(statuses.filter((status) => status === 401).length).toBe(40);
    const one = await postMany(times(10, () => ({ from: '203.0.113.99', email: ' ADA-door@example.org' })));
    expect([one.filter((status) => status === 401).length, one.filter((status) => status === 429).length]).toEqual([
      5, 5,
    ]);
    expect((await owner('198.51.100.8')).status).toBe(200);
  });

  it('counts all addresses of an IPv6 /64 network as one, for passwords and gate keys', async () => {
    const from = (index: number): string => `2001:db8:0:7::${(index + 1).toString(16)}`;
    const passwords: number[] = [];
    for (const attempt of times(8, (index) => ({ from: from(index) }))) passwords.push((await post(attempt)).status);
    expect(passwords).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect((await owner('2001:db8:0:8::1')).status).toBe(200);
    const keys = await postMany(times(30, (index) => ({ from: from(index), key: null })));
    expect([keys.filter((status) => status === 401).length, keys.filter((status) => status === 429).length]).toEqual([
      20, 10,
    ]);
  });

  it('returns the same errors for a wrong email and a wrong password, even after too many attempts (D40)', async () => {
    const from = '198.51.100.9';
    const wrong = await Promise.all([
      post({ from, key: null }),
      post({ from, key: 'guess' }),
      post({ from }),
      post({ from, email: 'nobody@example.org' }),
    ]);
    const shown = wrong.map(({ status, text, headers }) => [
      status,
      text,
      headers.get('www-authenticate'),
      headers.get('cache-control'),
    ]);
    expect(new Set(shown.map((answer) => JSON.stringify(answer))).size).toBe(1);
    for (const email of ['ben-door@example.org', 'nobody-else@example.org']) {
      const statuses: number[] = [];
      for (let round = 0; round < 6; round += 1) statuses.push((await post({ from: '198.51.100.10', email })).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    }
  });

  it('queues callers without the gate key separately from callers with it', async () => {
    const crowd = postMany(times(600, (index) => ({ from: `192.0.2.${index % 200}`, key: null })));
    const logins: number[] = [];
    for (let round = 0; round < 5; round += 1) logins.push((await owner(`198.51.100.${100 + round}`)).status);
    expect(logins).toEqual([200, 200, 200, 200, 200]);
    expect((await crowd).every((status) => status === 401 || status === 503)).toBe(true);
  });

  it('counts rejected logins by reason in a metric', async () => {
    for (const reason of ['gate_key', 'credentials', 'too_many_gate_keys', 'too_many_failures'])
      expect(await readMetric(platform, 'directory', 'coherence_logins_refused_total', { reason })).toBeGreaterThan(0);
  });
});
