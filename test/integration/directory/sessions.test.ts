import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newContext } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { updateAccountOf } from './account-of.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { login, refuseLogin, logout, verifySession, whoami, setPassword } = directory.rpcs;
const people = [
  {
    key: 'ada',
    name: 'Ada',
    description: 'Hosts',
    photo_url: 'https://example.org/a.png',
    contact: { email: 'ada@example.org' },
  },
  { key: 'ben', name: 'Ben' },
];
const accounts = [
  { email: 'ada@example.org', person: 'ada', password: 'the right password', groups: ['coherence_users'] },
  { email: 'ben@example.org', person: 'ben', password: 'the password of ben' },
  { email: 'loner@example.org', password: 'the password of loner' },
  { email: 'empty@example.org', person: 'ben' },
];
const ip = '192.0.2.1';
const good = { email: 'ada@example.org', password: 'the right password', ip };

let fixture: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await fixture.apply({ people, accounts });
});
afterAll(() => fixture.stop());

async function verified(token: string): Promise<boolean> {
  try {
    await fixture.call(verifySession, { token });
    return true;
  } catch {
    return false;
  }
}

describe('directory.sessions.login (rules/access#login; D40)', () => {
  it('returns a token in the documented format, its expiry and the person', async () => {
    const lifeMs = 86_400_000;
    const before = Date.now();
    const reply = await fixture.call(login, good);
    expect(reply).toEqual({
      token: expect.stringMatching(/^svc_agentic_[a-z0-9]{32}_[A-Za-z0-9_-]{43}$/),
      token_type: 'Bearer',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/),
      expires_in_seconds: 86400,
      person: {
        id: expect.any(Number),
        name: 'Ada',
        description: 'Hosts',
        photo_url: 'https://example.org/a.png',
        actor_kind: 'human',
        contact: { email: 'ada@example.org' },
      },
    });
    expect(Date.parse(reply.expires_at)).toBeGreaterThanOrEqual(before + lifeMs - 1_000);
    expect(Date.parse(reply.expires_at)).toBeLessThanOrEqual(Date.now() + lifeMs + 1_000);
  });

  it('stores only the session key and the SHA-256 of the secret', async () => {
    const { token } = await fixture.call(login, good);
    const [key, secret] = [token.slice(12, 44), token.slice(45)];
    const [row] = await fixture.env.sql(
      `select encode(secret_sha256, 'hex') as hash from directory.login_sessions where session_key = $1`,
      [key],
    );
    expect(row).toEqual({ hash: createHash('sha256').update(secret).digest('hex') });
    const tables = await fixture.env.sql<{ text: string }>('select s::text as text from directory.login_sessions s');
    expect(tables.some(({ text }) => text.includes(secret))).toBe(false);
  });

  it('ignores case and surrounding whitespace of the email at a login, but not of the password', async () => {
    await expect(fixture.call(login, { ...good, email: ' ADA@Example.org ' })).resolves.toMatchObject({
      token_type: 'Bearer',
    });
    expect(await fixture.refusal(login, { ...good, password: 'the right password ' })).toMatchObject({
      code: 'unauthenticated',
    });
  });

  it.each([
    ['an unknown email', { email: 'nobody@example.org', password: 'x' }],
    ['a wrong password', { email: 'ada@example.org', password: 'wrong' }],
    ['an account without a password', { email: 'empty@example.org', password: '' }],
    ['an empty email', { email: '', password: '' }],
    ['SQL in the email', { email: `' or 1=1 --`, password: 'the right password' }],
    ['a very long password', { email: 'ada@example.org', password: 'p'.repeat(100_000) }],
  ])('rejects a login with %s, with the same error for all reasons', async (_what, credentials) => {
    const error = await fixture.refusal(login, { ...credentials, ip });
    expect(error.toBody()).toEqual({ code: 'unauthenticated', message: 'Invalid credentials.' });
  });

  it('returns the same error for an inactive account as for a wrong password', async () => {
    await fixture.call(directory.rpcs.createAccount, {
      email: 'gone@example.org',
      password: 'known to somebody',
      person: 'ben',
    });
    await updateAccountOf(fixture, 'gone@example.org', { active: false });
    for (const password of ['known to somebody', 'unknown']) {
      expect((await fixture.refusal(login, { email: 'gone@example.org', password, ip })).toBody()).toEqual({
        code: 'unauthenticated',
        message: 'Invalid credentials.',
      });
    }
  });

  it('returns 403 for the correct password of an account without a person, 401 for a wrong one', async () => {
    expect(
      await fixture.refusal(login, { email: 'loner@example.org', password: 'the password of loner', ip }),
    ).toMatchObject({
      code: 'permission_denied',
    });
    expect(await fixture.refusal(login, { email: 'loner@example.org', password: 'wrong', ip })).toMatchObject({
      code: 'unauthenticated',
    });
  });

  it('uses similar CPU time for unknown accounts, wrong passwords and wrong gate keys', async () => {
    // Returns the CPU time of this process, which also runs the service. Unlike wall time, it does not depend on other
    // load of the machine.
    const measure = async (work: () => Promise<unknown>): Promise<number> => {
      const costs: number[] = [];
      for (let round = 0; round < 9; round++) {
        const before = process.cpuUsage();
        await work();
        const { user, system } = process.cpuUsage(before);
        costs.push(user + system);
      }
      return Math.min(...costs);
    };
    const wrong = await measure(() => fixture.refusal(login, { ...good, password: 'wrong' }));
    const unknown = await measure(() => fixture.refusal(login, { ...good, email: 'nobody@example.org' }));
    const gate = await measure(() => fixture.refusal(refuseLogin, { ip }));
    for (const cost of [unknown, gate]) {
      // Without computing the password hash, a login would cost less than a hundredth.
      expect(cost).toBeGreaterThan(wrong / 4);
      expect(cost).toBeLessThan(wrong * 4);
    }
  });
});

describe('directory.sessions.verify (rules/access#login)', () => {
  it('returns the actor of a session and its rights', async () => {
    const { token } = await fixture.call(login, good);
    const { actor } = await fixture.call(verifySession, { token });
    expect(actor).toEqual({
      kind: 'user',
      accountId: expect.any(Number),
      email: 'ada@example.org',
      personId: expect.any(Number),
      ops: null,
      superuser: false,
      globalEditor: false,
      coherenceAccess: true,
      workspaceEditor: false,
      chatAgent: false,
      sessionKey: token.slice(12, 44),
    });
    const ben = await fixture.call(login, { email: 'ben@example.org', password: 'the password of ben', ip });
    await expect(fixture.call(verifySession, { token: ben.token })).resolves.toMatchObject({
      actor: { coherenceAccess: false },
    });
  });

  it('rejects malformed tokens, wrong secrets and wrong session keys', async () => {
    const { token } = await fixture.call(login, good);
    const other = await fixture.call(login, good);
    const mixed = token.slice(0, 45) + other.token.slice(45);
    for (const text of ['', 'svc_agentic_', mixed, token.toUpperCase(), `${token} `, "svc_agentic_' or true --"]) {
      expect(await fixture.refusal(verifySession, { token: text })).toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('accepts console sessions only in the console, and other sessions only elsewhere (S3)', async () => {
    const [api, ofConsole] = [
      await fixture.call(login, good),
      await fixture.call(login, { ...good, without_gate_key: true }),
    ];
    await expect(fixture.call(verifySession, { token: ofConsole.token, for_console: true })).resolves.toMatchObject({
      actor: { kind: 'user' },
    });
    for (const request of [
      { token: ofConsole.token },
      { token: ofConsole.token, for_console: false },
      { token: api.token, for_console: true },
    ])
      expect(await fixture.refusal(verifySession, request)).toMatchObject({ code: 'unauthenticated' });
  });

  it('rejects a session token after 24 hours', async () => {
    const { token } = await fixture.call(login, good);
    const key = token.slice(12, 44);
    await fixture.env.sql(
      `update directory.login_sessions set expires_at = clock_timestamp() + interval '1 second' where session_key = $1`,
      [key],
    );
    expect(await verified(token)).toBe(true);
    await fixture.env.sql(`update directory.login_sessions set expires_at = clock_timestamp() where session_key = $1`, [
      key,
    ]);
    expect(await verified(token)).toBe(false);
  });
});

describe('revocation of tokens (rules/access#credentials: logout, password change, deactivation)', () => {
  const revoked: string[][] = [];
  let stopListening: () => void;
  beforeAll(() => {
    stopListening = fixture.bus.subscribeEvent(
      directory.events.sessionsRevoked,
      ({ session_keys: keys }) => void revoked.push(keys),
    );
  });
  afterAll(() => stopListening());
  beforeEach(() => {
    revoked.length = 0;
  });

  it('revokes only the session of the caller at a logout, and notifies the gateways before the reply', async () => {
    const [first, second] = [await fixture.call(login, good), await fixture.call(login, good)];
    const { actor } = await fixture.call(verifySession, { token: first.token });
    await expect(fixture.bus.call(logout, {}, { ...newContext(), actor })).resolves.toEqual({ revoked: true });
    expect([await verified(first.token), await verified(second.token)]).toEqual([false, true]);
    await waitFor(() => revoked.some((keys) => keys.includes(actor.sessionKey)));
  });

  it('revokes all tokens of an account when its password changes, and none of other accounts', async () => {
    const ada = [await fixture.call(login, good), await fixture.call(login, good)];
    const ben = await fixture.call(login, { email: 'ben@example.org', password: 'the password of ben', ip });
    await fixture.call(setPassword, { email: 'Ada@example.org', password: 'the next password' });
    expect(await Promise.all(ada.map(({ token }) => verified(token)))).toEqual([false, false]);
    expect(await verified(ben.token)).toBe(true);
    expect(await fixture.refusal(login, good)).toMatchObject({ code: 'unauthenticated' });
    await expect(fixture.call(login, { ...good, password: 'the next password' })).resolves.toMatchObject({
      token_type: 'Bearer',
    });
    await waitFor(() => revoked.flat().length >= 2);
    await fixture.call(setPassword, { email: 'ada@example.org', password: 'the right password' });
  });

  it('revokes tokens when an account is deactivated, by command or by a workspace file', async () => {
    const { token } = await fixture.call(login, good);
    await fixture.apply({ accounts: [{ email: 'ada@example.org', active: false }] });
    expect(await verified(token)).toBe(false);
    await fixture.apply({ accounts: [{ email: 'ada@example.org', active: true }] });
    expect(await verified(token)).toBe(false);
  });

  it('revokes tokens when a workspace file changes the password, and not when it repeats it', async () => {
    const { token } = await fixture.call(login, good);
    await expect(
      fixture.apply({ accounts: [{ email: 'ada@example.org', password: 'the right password' }] }),
    ).resolves.toMatchObject({
      unchanged: 1,
    });
    expect(await verified(token)).toBe(true);
    const changed = await fixture.apply({ accounts: [{ email: 'ada@example.org', password: 'quite another one' }] });
    expect(changed.diff).toEqual([
      {
        list: 'accounts',
        key: 'ada@example.org',
        action: 'update',
        fields: [{ field: 'password', old: '(not shown)', new: '(not shown)' }],
      },
    ]);
    expect(await verified(token)).toBe(false);
    await fixture.apply({ accounts: [{ email: 'ada@example.org', password: 'the right password' }] });
  });

  it('sends changed rights of an account to the gateways', async () => {
    const { token } = await fixture.call(login, good);
    await updateAccountOf(fixture, 'ada@example.org', { global_editor: true });
    await expect(fixture.call(verifySession, { token })).resolves.toMatchObject({ actor: { globalEditor: true } });
    await waitFor(() => revoked.flat().includes(token.slice(12, 44)));
    await updateAccountOf(fixture, 'ada@example.org', { global_editor: false });
  });

  it('invalidates a login that started before a password change', async () => {
    const logins = Array.from({ length: 8 }, () =>
      fixture.call(login, good).then(
        ({ token }) => token,
        () => undefined,
      ),
    );
    await fixture.call(setPassword, { email: 'ada@example.org', password: 'changed meanwhile' });
    const tokens = (await Promise.all(logins)).filter((token) => token !== undefined);
    expect(await Promise.all(tokens.map(verified))).toEqual(tokens.map(() => false));
    await fixture.call(setPassword, { email: 'ada@example.org', password: 'the right password' });
  });
});

describe('directory.sessions.whoami (rules/access#login)', () => {
  it("returns the current data of the caller's person", async () => {
    const { token } = await fixture.call(login, good);
    const { actor } = await fixture.call(verifySession, { token });
    await fixture.apply({ people: [{ key: 'ada', description: 'Hosts no more' }] });
    await expect(fixture.bus.call(whoami, {}, { ...newContext(), actor })).resolves.toEqual({
      authenticated: true,
      person: expect.objectContaining({ name: 'Ada', description: 'Hosts no more' }),
      key: null,
    });
  });
});
