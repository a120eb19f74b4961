/** People managing their own login, through two gateways and two directories (rules/access#own-login). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { applyDemo, eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

const nextPassword = 'the next of many passwords';
let platform: TestPlatform;
let number = 0;
let email: string;
let password: string;
beforeAll(async () => {
  const settings = { RATE_LIMIT_LOGIN_PER_MINUTE: '30', RATE_LIMIT_LOGIN_FAILURES: '3' };
  platform = await startTestPlatform(import.meta.url, settings, {
    services: ['directory', 'api-gateway'],
    replicas: 2,
  });
  await applyDemo(platform, 'own');
});
afterAll(() => platform.stop());
beforeEach(async () => {
  [email, password] = [`person-${++number}@example.org`, `the password of person ${number}`];
  await platform.apply({ accounts: [{ email, person: 'ben-own', password }] });
  await platform.sql('delete from directory.login_attempts');
});

const logIn = () => platform.login(email, password);
const ask = (method: string, path: string, token: string, json?: unknown) =>
  platform.call(method, path, { token, headers: { connection: 'close' }, ...(json === undefined ? {} : { json }) });
const changePassword = (token: string, current: string, next: string) =>
  ask('POST', '/api/v1/auth/password', token, { current, new: next });
const idOf = (token: string): string => token.split('_')[2] ?? '';

/** Checks that all gateways reject the token. Requests are distributed to the gateways in turn. */
async function isRefusedEverywhere(token: string): Promise<void> {
  for (let n = 0; n < 6; n++) expect((await ask('GET', '/api/v1/auth/whoami', token)).status).toBe(401);
}

describe('POST /api/v1/auth/password', () => {
  /** The maximum delay is tested in services/api-gateway/credentials/cache.test.ts. */
  it('ends every session of the account on every gateway after a password change, including the current session', async () => {
    const [own, other] = [await logIn(), await logIn()];
    for (let n = 0; n < 4; n++) expect((await ask('GET', '/api/v1/auth/whoami', other)).status).toBe(200); // Both gateways have cached the session.
    const answer = await changePassword(own, password, nextPassword);
    expect([answer.status, answer.json]).toEqual([200, { changed: true, revoked_sessions: 2 }]);
    await eventually(() => isRefusedEverywhere(other));
    await eventually(() => isRefusedEverywhere(own));
    expect(await platform.findInDatabase(nextPassword)).toEqual([]);
    expect(await platform.readLogs()).not.toContain(nextPassword);
  });

  it('returns 403 for a wrong password, 400 for a weak one and 422 for an invalid request, in the envelope of /api/v1', async () => {
    const token = await logIn();
    const wrong = await changePassword(token, 'wrong', nextPassword);
    expect([wrong.status, wrong.json]).toEqual([
      403,
      { code: 'wrong_password', message: expect.any(String), retryable: false },
    ]);
    const weak = await changePassword(token, password, 'short');
    expect([weak.status, weak.json]).toEqual([
      400,
      { code: 'weak_password', message: expect.stringContaining('12 characters'), retryable: false },
    ]);
    const invalid = await ask('POST', '/api/v1/auth/password', token, { current: 1, new: 'x'.repeat(4_001) });
    expect([invalid.status, invalid.json.detail.map((item: any) => item.loc)]).toEqual([
      422,
      [
        ['body', 'payload', 'current'],
        ['body', 'payload', 'new'],
      ],
    ]);
  });

  it('counts failed password changes in the throttle of logins', async () => {
    const token = await logIn();
    for (let n = 0; n < 3; n++) expect((await changePassword(token, `wrong ${n}`, nextPassword)).status).toBe(403);
    const refused = await changePassword(token, password, nextPassword);
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await expect(logIn()).rejects.toThrow('429');
    expect((await ask('GET', '/api/v1/auth/sessions', token)).status).toBe(200);
  });

  it.each([
    ['the shared token', () => platform.sharedToken],
    ['no token', () => null],
  ])('returns 401 for %s, for password changes and session operations', async (_what, tokenOf) => {
    for (const [method, path] of [
      ['POST', '/api/v1/auth/password'],
      ['GET', '/api/v1/auth/sessions'],
      ['POST', `/api/v1/auth/sessions/${'a'.repeat(32)}/revoke`],
    ] as const) {
      expect([path, (await platform.call(method, path, { token: tokenOf() })).status]).toEqual([path, 401]);
    }
  });
});

describe('service keys and account credentials (K10)', () => {
  it('denies password changes and session operations to a service key with any scopes', async () => {
    const own = await logIn();
    const { token } = await platform.ask('keys', 'create', email, '--name', 'A program', '--scope', '*');
    expect((await ask('GET', '/api/v1/auth/whoami', token)).status).toBe(200);
    for (const answer of [
      await changePassword(token, password, nextPassword),
      await ask('GET', '/api/v1/auth/sessions', token),
      await ask('POST', `/api/v1/auth/sessions/${idOf(own)}/revoke`, token),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([403, 'permission_denied']);
    }
    expect((await ask('GET', '/api/v1/auth/whoami', own)).status).toBe(200);
    expect(await logIn()).not.toBe(own);
  });
});

describe('GET /api/v1/auth/sessions and POST …/{session_id}/revoke', () => {
  it('lists active sessions, and ends a session on all gateways at once, also when repeated', async () => {
    const [own, other] = [await logIn(), await logIn()];
    const list = await ask('GET', '/api/v1/auth/sessions?limit=10', own);
    expect([list.status, list.json]).toEqual([
      200,
      {
        count: 2,
        limit: 10,
        offset: 0,
        has_more: false,
        items: [other, own].map((token) => ({
          id: idOf(token),
          created_at: expect.any(String),
          expires_at: expect.any(String),
          current: token === own,
        })),
      },
    ]);
    for (let n = 0; n < 4; n++) expect((await ask('GET', '/api/v1/auth/whoami', other)).status).toBe(200);
    for (let n = 0; n < 3; n++) {
      const answer = await ask('POST', `/api/v1/auth/sessions/${idOf(other)}/revoke`, own);
      expect([answer.status, answer.json]).toEqual([200, { revoked: true }]);
    }
    await eventually(() => isRefusedEverywhere(other));
    expect((await ask('GET', '/api/v1/auth/sessions', own)).json.items).toHaveLength(1);
  });

  it('returns 404 for invalid session ids and for a session of another account, which remains active', async () => {
    const [own, foreign] = [await logIn(), await platform.login('ada-own@example.org', 'secret-of-ada-own')];
    for (const id of [idOf(foreign), 'a'.repeat(32), 'x', '%00', encodeURIComponent(foreign)]) {
      const answer = await ask('POST', `/api/v1/auth/sessions/${id}/revoke`, own);
      expect([id, answer.status, answer.json.code]).toEqual([id, 404, 'not_found']);
    }
    expect((await ask('GET', '/api/v1/auth/whoami', foreign)).status).toBe(200);
  });

  it('rejects a session list limit that is out of range', async () => {
    expect((await ask('GET', '/api/v1/auth/sessions?limit=201', await logIn())).status).toBe(422);
  });
});
