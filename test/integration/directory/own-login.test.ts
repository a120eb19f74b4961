import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import type { AppError } from '#libs/infrastructure/errors';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { deriveArgon2id } from '../../../services/directory/accounts/rules.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { login, verifySession, changePassword, listSessions, revokeSession, setPassword } = directory.rpcs;
const [firstPassword, nextPassword] = ['the first of many passwords', 'the next of many passwords'];
let ipNumber = 0;

let fixture: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(
    import.meta.url,
    { RATE_LIMIT_LOGIN_PER_MINUTE: '0', RATE_LIMIT_LOGIN_FAILURES: '5' },
    { replicas: 2 },
  );
  await fixture.apply({
    people: [{ key: 'ben', name: 'Ben' }],
    accounts: [{ email: 'ben@example.org', person: 'ben', password: firstPassword }],
  });
});
afterAll(() => fixture.stop());

interface Login {
  readonly token: string;
  readonly id: string;
  readonly actor: Actor;
}
/** Account email; each test uses a new account. */
let email: string;
let ip: string;
beforeEach(async () => {
  ipNumber++;
  ip = `192.0.2.${ipNumber}`;
  email = `person-${ipNumber}@example.org`;
  await fixture.call(directory.rpcs.createAccount, { email, password: firstPassword, person: 'ben' });
});

async function logIn(password = firstPassword, address = email): Promise<Login> {
  const { token } = await fixture.call(login, { email: address, password, ip });
  const { actor } = await fixture.call(verifySession, { token });
  return { token, id: token.slice(12, 44), actor };
}
async function isAlive({ token }: Login): Promise<boolean> {
  return fixture.call(verifySession, { token }).then(
    () => true,
    () => false,
  );
}
const change = (as: Login, current: string, next: string) =>
  fixture.call(changePassword, { current, new: next, ip }, as.actor);
const refuseChange = (as: Login, current: string, next: string) =>
  fixture.refusal(changePassword, { current, new: next, ip }, as.actor);
const canLogIn = (password: string): Promise<boolean> =>
  logIn(password).then(
    () => true,
    () => false,
  );

describe('directory.accounts.change-password (rules/access#own-login)', () => {
  it("revokes every session of the account at a password change, including the caller's, and notifies the gateways", async () => {
    const revoked: string[] = [];
    const stop = fixture.bus.subscribeEvent(
      directory.events.sessionsRevoked,
      ({ session_keys: keys }) => void revoked.push(...keys),
    );
    const [own, other, third, over] = [await logIn(), await logIn(), await logIn(), await logIn()];
    await fixture.env.sql(`update directory.login_sessions set expires_at = clock_timestamp() where session_key = $1`, [
      over.id,
    ]);
    const foreign = await logIn(firstPassword, 'ben@example.org');
    expect(await change(own, firstPassword, nextPassword)).toEqual({ changed: true, revoked_sessions: 3 });
    expect(await Promise.all([own, other, third, foreign].map(isAlive))).toEqual([false, false, false, true]);
    expect([await canLogIn(firstPassword), await canLogIn(nextPassword)]).toEqual([false, true]);
    await waitFor(() => revoked.length >= 3);
    expect(revoked.toSorted()).toEqual([own.id, other.id, third.id].toSorted());
    stop();
  });

  it.each([
    ['a short password', 'short', 'weak_password', 'must have at least 12 characters'],
    ['one that is easy to guess', 'password1234', 'weak_password', 'too easy to guess'],
    ['the email', 'person@example.org', 'weak_password', 'too easy to guess'],
    ['a long one', 'kR7#vQ2pX9s-'.repeat(11), 'weak_password', 'must have at most 128 characters'],
  ])('rejects %s as the new password, and changes nothing', async (_what, password, reason, message) => {
    const [own, other] = [await logIn(), await logIn()];
    const refusal = await refuseChange(own, firstPassword, password.replace('person@', `person-${ipNumber}@`));
    expect(refusal).toMatchObject({ code: 'bad_request', reason, message: expect.stringContaining(message) });
    expect(refusal.message).not.toContain(password);
    expect([await isAlive(other), await canLogIn(firstPassword)]).toEqual([true, true]);
  });

  it('rejects a wrong current password before it checks the new one', async () => {
    const [own, other] = [await logIn(), await logIn()];
    expect(await refuseChange(own, 'wrong', 'short')).toMatchObject({
      code: 'permission_denied',
      reason: 'wrong_password',
    });
    expect([await isAlive(other), await canLogIn(firstPassword)]).toEqual([true, true]);
  });

  it('counts a wrong current password as a failed login of the email from the address', async () => {
    const own = await logIn();
    for (let n = 0; n < 5; n++)
      expect(await refuseChange(own, `wrong ${n}`, nextPassword)).toMatchObject({ code: 'permission_denied' });
    expect(await refuseChange(own, firstPassword, nextPassword)).toMatchObject({
      code: 'rate_limited',
      details: { retry_after: expect.any(Number) },
    });
    expect(await fixture.refusal(login, { email, password: firstPassword, ip })).toMatchObject({
      code: 'rate_limited',
    });
    ip = '198.51.100.1';
    expect(await change(own, firstPassword, nextPassword)).toMatchObject({ changed: true });
  });

  it('rejects the correct current password after too many concurrent wrong ones', async () => {
    const own = await logIn();
    const wrong = Array.from({ length: 20 }, () => refuseChange(own, 'wrong', nextPassword));
    const right = refuseChange(own, firstPassword, nextPassword);
    await Promise.all(wrong);
    expect((await right).code).toBe('rate_limited');
    expect(await isAlive(own)).toBe(true);
  });

  it('rejects callers without a login session, and callers whose session has ended', async () => {
    const own = await logIn();
    const { sessionKey: _gone, ...keyless } = own.actor as Extract<Actor, { kind: 'user' }>;
    for (const [rpc, request] of [
      [changePassword, { current: firstPassword, new: nextPassword, ip }],
      [listSessions, {}],
      [revokeSession, { session_id: own.id }],
    ] as const) {
      expect(await fixture.refusal(rpc, request as never, keyless)).toMatchObject({ code: 'permission_denied' });
    }
    expect(await isAlive(own)).toBe(true);
    await fixture.call(revokeSession, { session_id: own.id }, own.actor);
    expect(await refuseChange(own, firstPassword, nextPassword)).toMatchObject({ code: 'unauthenticated' });
    expect(await canLogIn(firstPassword)).toBe(true);
  });

  it('accepts exactly one of several concurrent password changes', async () => {
    const logins = [await logIn(), await logIn(), await logIn(), await logIn()];
    const changes = logins.map((own, n) =>
      change(own, firstPassword, `${nextPassword} ${n}`).then(
        () => 'changed',
        ({ code }: AppError) => code,
      ),
    );
    const results = await Promise.all(changes);
    const winner = results.indexOf('changed');
    // The later calls used a password or session that was no longer valid.
    const late = expect.stringMatching(/^(permission_denied|unauthenticated)$/);
    expect(results.toSorted()).toEqual(['changed', late, late, late]);
    expect(await Promise.all(logins.map(isAlive))).toEqual(logins.map(() => false));
    expect(await canLogIn(`${nextPassword} ${winner}`)).toBe(true);
  });

  it('invalidates logins with the old password that started before the change', async () => {
    const own = await logIn();
    const pending = Array.from({ length: 6 }, () => logIn().catch(() => undefined));
    await change(own, firstPassword, nextPassword);
    const others = (await Promise.all(pending)).filter((item) => item !== undefined);
    expect(await Promise.all([own, ...others].map(isAlive))).toEqual([own, ...others].map(() => false));
  });
});

describe('directory.sessions.list (rules/access#own-login)', () => {
  it('lists active sessions, newest first, in pages, and marks the session of the call', async () => {
    const [first, second, third] = [await logIn(), await logIn(), await logIn()];
    await logIn(firstPassword, 'ben@example.org');
    const page = await fixture.call(listSessions, {}, second.actor);
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/);
    expect(page).toEqual({
      count: 3,
      limit: 50,
      offset: 0,
      has_more: false,
      items: [third, second, first].map(({ id }) => ({
        id,
        created_at: instant,
        expires_at: instant,
        current: id === second.id,
      })),
    });
    expect(await fixture.call(listSessions, { limit: 1, offset: 1 }, third.actor)).toMatchObject({
      count: 3,
      has_more: true,
      items: [{ id: second.id, current: false }],
    });
    expect(JSON.stringify(page)).not.toContain(first.token.slice(-43));
    await fixture.call(revokeSession, { session_id: first.id }, second.actor);
    await fixture.env.sql(`update directory.login_sessions set expires_at = clock_timestamp() where session_key = $1`, [
      third.id,
    ]);
    expect((await fixture.call(listSessions, {}, second.actor)).items.map(({ id }) => id)).toEqual([second.id]);
  });
});

describe('directory.sessions.revoke (rules/access#own-login)', () => {
  it('revokes a session of the account and notifies the gateways; repeated calls have no effect', async () => {
    const revoked: string[] = [];
    const stop = fixture.bus.subscribeEvent(
      directory.events.sessionsRevoked,
      ({ session_keys: keys }) => void revoked.push(...keys),
    );
    const [own, other] = [await logIn(), await logIn()];
    for (let n = 0; n < 3; n++)
      expect(await fixture.call(revokeSession, { session_id: other.id }, own.actor)).toEqual({ revoked: true });
    expect([await isAlive(own), await isAlive(other)]).toEqual([true, false]);
    expect(await fixture.call(revokeSession, { session_id: own.id }, own.actor)).toEqual({ revoked: true });
    expect(await isAlive(own)).toBe(false);
    await waitFor(() => revoked.length >= 2);
    expect(revoked).toEqual([other.id, own.id]);
    stop();
  });

  it('returns 404 for unknown and malformed session ids and for sessions of other accounts, and revokes none', async () => {
    const [own, foreign] = [await logIn(), await logIn(firstPassword, 'ben@example.org')];
    for (const id of [
      foreign.id,
      'a'.repeat(32),
      '',
      'x',
      foreign.token,
      `${foreign.id}\0`,
      "' or true --",
      'A'.repeat(32),
    ]) {
      expect([id, (await fixture.refusal(revokeSession, { session_id: id }, own.actor)).code]).toEqual([
        id,
        'not_found',
      ]);
    }
    expect([await isAlive(own), await isAlive(foreign)]).toEqual([true, true]);
  });
});

describe('password hashes with a lower cost (rules/access#passwords; D40)', () => {
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  async function weaken(password = firstPassword): Promise<string> {
    const salt = Buffer.alloc(16, 1);
    const tag = await deriveArgon2id(password, salt, { memory: 8_192, passes: 1, parallelism: 1 }, 32);
    const weak = `$argon2id$v=19$m=8192,t=1,p=1$${unpadded(salt)}$${unpadded(tag)}`;
    await fixture.env.sql('update directory.accounts set password_hash = $2 where email = $1', [email, weak]);
    return weak;
  }
  const readHash = async (): Promise<string> =>
    (
      await fixture.env.sql<{ hash: string }>('select password_hash as hash from directory.accounts where email = $1', [
        email,
      ])
    )[0]?.hash ?? '';
  const today = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;

  it('rehashes a password with low cost only at a successful login', async () => {
    const weak = await weaken();
    expect(await canLogIn('wrong')).toBe(false);
    expect(await readHash()).toBe(weak);
    const own = await logIn();
    const raised = await readHash();
    expect(raised).toMatch(today);
    expect([await canLogIn(firstPassword), await isAlive(own)]).toEqual([true, true]);
    expect(await readHash()).toBe(raised);
  });

  it('accepts all concurrent logins while the password is rehashed', async () => {
    await weaken();
    const logins = await Promise.all(Array.from({ length: 8 }, () => logIn()));
    expect(await Promise.all(logins.map(isAlive))).toEqual(logins.map(() => true));
    expect(await readHash()).toMatch(today);
  });

  it('keeps a password change that is concurrent with a rehash of the old password', async () => {
    for (let round = 0; round < 2; round++) {
      await weaken();
      const pending = Array.from({ length: 2 }, () => canLogIn(firstPassword));
      await fixture.call(setPassword, { email, password: nextPassword });
      await Promise.all(pending);
      expect([await canLogIn(nextPassword), await canLogIn(firstPassword)]).toEqual([true, false]);
      await fixture.env.sql('delete from directory.login_attempts');
    }
  });

  it('changes the password while concurrent logins rehash it', async () => {
    const own = await logIn();
    await weaken();
    const pending = Array.from({ length: 2 }, () => canLogIn(firstPassword));
    expect(await change(own, firstPassword, nextPassword)).toMatchObject({ changed: true });
    await Promise.all(pending);
    expect([await canLogIn(firstPassword), await canLogIn(nextPassword)]).toEqual([false, true]);
  });
});
