/**
 * Service keys in the directory: rights to create, read, rotate and revoke them, and expiry
 * (rules/access#service-keys).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor, RequestOf } from '#libs/infrastructure/contract';
import { waitFor } from '#libs/product/testing';
import { directory, maxKeys } from '#services/directory';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';
import { accountIdOf, createKeyOf, deleteAccountOf, updateAccountOf } from './account-of.ts';
import { erase, serveErasures } from './erase.ts';

const { createAccount, createKey, exportPerson, getKey, getPerson, listKeys, login, logout, revokeKey } =
  directory.rpcs;
const { rotateKey, setPassword, verifyKey, verifySession, whoami } = directory.rpcs;
const password = 'seven green parrots';
type User = Extract<Actor, { kind: 'user' }>;

let fixture: DirectoryFixture;
let ada: User;
let ben: User;
let root: User;
/** Ids for which the gateways received an invalidation. */
const forgotten: string[] = [];

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await fixture.apply({
    people: ['ada', 'ben', 'root'].map((key) => ({ key, name: key })),
    accounts: [
      { email: 'ada@example.org', person: 'ada', password, groups: ['coherence_users'] },
      { email: 'ben@example.org', person: 'ben', password },
      { email: 'root@example.org', person: 'root', password, superuser: true },
    ],
  });
  const actorOf = async (name: string): Promise<User> => {
    const { token } = await fixture.call(login, { email: `${name}@example.org`, password, ip: '192.0.2.1' });
    return (await fixture.call(verifySession, { token })).actor;
  };
  [ada, ben, root] = [await actorOf('ada'), await actorOf('ben'), await actorOf('root')];
  fixture.bus.subscribeEvent(directory.events.keysChanged, ({ key_ids: ids }) => void forgotten.push(...ids));
});
afterAll(() => fixture.stop());

const wish = (request: Partial<RequestOf<typeof createKey>> = {}) => ({
  name: 'A program',
  scopes: ['media:read'],
  ...request,
});
const makeFor = (email: string, scopes = ['*']) => createKeyOf(fixture, email, { scopes });
const works = async (token: string): Promise<boolean> =>
  fixture.call(verifyKey, { token }, null).then(
    () => true,
    () => false,
  );
/** Returns the actor of a key. */
const actorOf = async (token: string): Promise<User> => (await fixture.call(verifyKey, { token }, null)).actor;
const newAccount = async (name: string): Promise<string> => {
  const email = `${name}@example.org`;
  await fixture.call(createAccount, { email, service_name: name });
  return email;
};

describe('directory.keys.create (K1, K5)', () => {
  it("creates a key of the caller's account and stores only the hash of its secret", async () => {
    const { key, token } = await fixture.call(createKey, wish({ expires_at: '2099-01-01T00:00:00+01:00' }), ada);
    expect(key).toEqual({
      id: token.split('_')[2],
      name: 'A program',
      account: { id: ada.accountId, email: 'ada@example.org' },
      person_id: ada.personId,
      scopes: ['media:read'],
      created_at: expect.any(String),
      created_by: { account_id: ada.accountId, key_id: null },
      expires_at: '2098-12-31T23:00:00Z',
      last_used_at: null,
      rotating_until: null,
      revoked_at: null,
    });
    expect(
      await fixture.env.sql('select 1 from directory.service_keys k where position($1 in k::text) > 0', [
        token.slice(-43),
      ]),
    ).toEqual([]);
  });

  it('allows superusers to create keys of any account, and other callers only keys of their own account (K10)', async () => {
    const { key } = await fixture.call(createKey, wish({ account_id: ben.accountId }), root);
    expect(key).toMatchObject({
      account: { email: 'ben@example.org' },
      created_by: { account_id: root.accountId, key_id: null },
    });
    const refusals = [];
    for (const account_id of [root.accountId, 999_999, 0])
      refusals.push((await fixture.refusal(createKey, wish({ account_id }), ada)).toBody());
    expect(refusals).toEqual(
      refusals.map(() => ({
        code: 'permission_denied',
        message: 'Only superusers can create keys of other accounts.',
      })),
    );
    for (const account_id of [999_999, -1])
      expect(await fixture.refusal(createKey, wish({ account_id }), root)).toMatchObject({ code: 'bad_request' });
  });

  it.each([
    [{ scopes: ['media:read', 'everything'] }, 'The scope "everything" does not exist'],
    [{ name: ' ' }, 'blank'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'future'],
  ])('rejects a key with %j, and creates none', async (wrong, message) => {
    const before = await fixture.call(listKeys, {}, ada);
    const refusal = await fixture.refusal(createKey, wish(wrong), ada);
    expect([refusal.code, refusal.message]).toEqual(['bad_request', expect.stringContaining(message)]);
    expect((await fixture.call(listKeys, {}, ada)).count).toBe(before.count);
  });

  it('limits a new key to the scopes of the creating key, and keeps it valid after that key ends (K10)', async () => {
    const parent = await fixture.call(createKey, wish({ scopes: ['media:read', 'keys:write'] }), root);
    const actor = await actorOf(parent.token);
    const child = await fixture.call(createKey, wish(), actor);
    expect(child.key.created_by).toEqual({ account_id: root.accountId, key_id: parent.key.id });
    expect(await fixture.refusal(createKey, wish({ scopes: ['media:write'] }), actor)).toMatchObject({
      code: 'permission_denied',
    });
    const wider = await fixture.call(createKey, wish({ scopes: ['*'] }), ada);
    expect(await fixture.refusal(rotateKey, { key_id: wider.key.id }, actor)).toMatchObject({
      code: 'permission_denied',
    });
    await fixture.call(rotateKey, { key_id: child.key.id }, actor);
    await fixture.call(revokeKey, { key_id: parent.key.id }, root);
    expect((await fixture.call(getKey, { key_id: child.key.id }, root)).key.revoked_at).toBeNull();
  });

  it(`gives an account ${maxKeys} keys and not one more at once; revoked ones do not count`, async () => {
    const email = await newAccount('many');
    await fixture.env.sql(
      `insert into directory.service_keys (id, name, account_id, scopes, secret_sha256)
       select 'filler' || lpad(n::text, 12, '0'), 'Filler', a.id, '{*}', sha256(n::text::bytea)
       from directory.accounts a, generate_series(1, $2) as n where a.email = $1`,
      [email, maxKeys - 5],
    );
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => makeFor(email)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { reason: string }).reason)).toEqual(
      Array.from({ length: 5 }, () => 'too_many_keys'),
    );
    const { items, count } = await fixture.call(listKeys, {
      account_id: await accountIdOf(fixture, email),
      limit: 1,
      offset: 0,
    });
    expect(count).toBe(maxKeys);
    await fixture.call(revokeKey, { key_id: items[0]?.id ?? '' });
    await expect(makeFor(email)).resolves.toBeDefined();
  });
});

describe('directory.keys.list, get and revoke (K5)', () => {
  it('returns to superusers all keys, and to others their own, newest first', async () => {
    const { key } = await fixture.call(createKey, wish({ name: 'Mine' }), ben);
    const own = await fixture.call(listKeys, { limit: 1 }, ben);
    expect([own.items, own.count >= 1]).toEqual([[key], true]);
    expect((await fixture.call(listKeys, { account_id: ben.accountId }, root)).items).toContainEqual(key);
    for (const account_id of [ben.accountId, 999_999, -5]) {
      expect(await fixture.call(listKeys, { account_id }, ada)).toEqual({ items: [], count: 0 });
    }
    for (const key_id of [key.id, 'nothing']) {
      for (const rpc of [getKey, revokeKey, rotateKey])
        expect(await fixture.refusal(rpc, { key_id }, ada)).toMatchObject({ code: 'not_found' });
    }
    expect(await fixture.call(getKey, { key_id: key.id }, root)).toEqual({ key });
  });

  it('revokes a key immediately; repeated calls have no effect', async () => {
    const { key, token } = await fixture.call(createKey, wish(), ada);
    expect(await works(token)).toBe(true);
    const first = await fixture.call(revokeKey, { key_id: key.id }, ada);
    expect([await works(token), first.key.revoked_at]).toEqual([false, expect.any(String)]);
    await waitFor(() => forgotten.includes(key.id));
    expect((await fixture.call(revokeKey, { key_id: key.id }, root)).key.revoked_at).toBe(first.key.revoked_at);
    expect(await fixture.refusal(rotateKey, { key_id: key.id }, ada)).toMatchObject({
      code: 'conflict',
      reason: 'key_ended',
    });
  });
});

describe('directory.keys.rotate (K5, K10)', () => {
  const endOverlaps = (id: string): Promise<unknown> =>
    fixture.env.sql(
      'update directory.service_keys set previous_until = now(), oldest_until = case when oldest_sha256 is not null then now() end where id = $1',
      [id],
    );
  const alive = (tokens: readonly string[]): Promise<boolean[]> => Promise.all(tokens.map(works));

  it('accepts the old secret of a rotated key until the overlap ends, and returns the end of the overlap', async () => {
    const made = await fixture.call(createKey, wish(), ada);
    const next = await fixture.call(rotateKey, { key_id: made.key.id, overlap_seconds: 60 }, ada);
    expect(await alive([made.token, next.token])).toEqual([true, true]);
    const left = Date.parse(next.key.rotating_until ?? '') - Date.now();
    expect(left).toBeGreaterThan(30_000);
    expect(left).toBeLessThanOrEqual(60_000);
    await waitFor(() => forgotten.includes(made.key.id));
    await endOverlaps(made.key.id);
    expect(await alive([made.token, next.token])).toEqual([false, true]);
    expect((await fixture.call(getKey, { key_id: made.key.id }, ada)).key.rotating_until).toBeNull();
  });

  it('invalidates the first secret of a key at its third rotation', async () => {
    const made = await fixture.call(createKey, wish(), ada);
    const tokens = [made.token];
    const rotate = async (): Promise<void> =>
      void tokens.push((await fixture.call(rotateKey, { key_id: made.key.id }, ada)).token);
    await rotate();
    await rotate();
    expect(await alive(tokens)).toEqual([true, true, true]);
    await rotate();
    expect(await alive(tokens)).toEqual([false, true, true, true]);
  });

  it('invalidates all old secrets immediately when a key is rotated without an overlap', async () => {
    const made = await fixture.call(createKey, wish(), ada);
    const second = await fixture.call(rotateKey, { key_id: made.key.id }, ada);
    const third = await fixture.call(rotateKey, { key_id: made.key.id, overlap_seconds: 0 });
    expect(await alive([made.token, second.token, third.token])).toEqual([false, false, true]);
    expect(third.key.rotating_until).toBeNull();
  });

  it('returns a different secret to each concurrent rotation', async () => {
    const { key } = await fixture.call(createKey, wish(), ada);
    const rotated = await Promise.all(
      Array.from({ length: 5 }, () => fixture.call(rotateKey, { key_id: key.id }, ada)),
    );
    expect((await alive(rotated.map(({ token }) => token))).filter(Boolean)).toHaveLength(3);
  });

  it('does not extend an expired key by a rotation', async () => {
    const { key, token } = await fixture.call(createKey, wish({ expires_at: '2099-01-01T00:00:00Z' }), ada);
    await fixture.env.sql('update directory.service_keys set expires_at = now() where id = $1', [key.id]);
    expect(await works(token)).toBe(false);
    expect(await fixture.refusal(rotateKey, { key_id: key.id }, ada)).toMatchObject({ reason: 'key_ended' });
  });
});

describe('directory.keys.verify (K2, K6)', () => {
  it('returns the actor of the key', async () => {
    const { key, token } = await makeFor('ada@example.org', ['media:read', 'steps:read']);
    const { sessionKey: _session, ...account } = ada;
    expect(await actorOf(token)).toEqual({
      ...account,
      email: 'ada@example.org',
      key: { id: key.id, scopes: ['media:read', 'steps:read'] },
    });
  });

  it('returns the same error for unknown ids, wrong secrets, revoked keys and malformed tokens', async () => {
    const [one, other] = [await makeFor('ada@example.org'), await makeFor('ada@example.org')];
    await fixture.call(revokeKey, { key_id: other.key.id });
    const secretOf = (token: string): string => token.slice(-43);
    const wrong = [
      `svc_key_${'0'.repeat(20)}_${secretOf(one.token)}`,
      `svc_key_${one.key.id}_${secretOf(other.token)}`,
      other.token,
      `${one.token}x`,
      one.token.toUpperCase(),
      '',
    ];
    const refusals = [];
    for (const token of wrong) refusals.push((await fixture.refusal(verifyKey, { token }, null)).toBody());
    expect(refusals).toEqual(wrong.map(() => ({ code: 'unauthenticated', message: 'Authentication required.' })));
  });

  it('returns the key in whoami, and rejects a logout with a key', async () => {
    const { key, token } = await makeFor('ada@example.org', ['agents:read']);
    const actor = await actorOf(token);
    expect((await fixture.call(whoami, {}, actor)).key).toEqual({
      id: key.id,
      name: 'A program',
      scopes: ['agents:read'],
    });
    expect((await fixture.call(whoami, {}, ada)).key).toBeNull();
    expect(await fixture.refusal(logout, {}, actor)).toMatchObject({ code: 'permission_denied' });
  });

  it('updates the last use of a key at most once in fifty seconds (K7)', async () => {
    const { key, token } = await makeFor('ada@example.org');
    const lastUse = async (): Promise<string | null> =>
      (await fixture.call(getKey, { key_id: key.id }, ada)).key.last_used_at;
    const before = Date.now();
    await works(token);
    await waitFor(async () => (await lastUse()) !== null);
    const used = await lastUse();
    expect(Math.abs(Date.parse(used ?? '') - before)).toBeLessThan(60_000);
    const version = async () =>
      (
        await fixture.env.sql<{ xmin: string }>('select xmin::text from directory.service_keys where id = $1', [key.id])
      )[0]?.xmin;
    const written = await version();
    for (let round = 0; round < 20; round++) await works(token);
    expect([await version(), await lastUse()]).toEqual([written, used]);
  });
});

describe('keys of a deactivated or deleted account (K2)', () => {
  it('revokes keys permanently when their account is deactivated, by command or by a workspace file', async () => {
    const email = await newAccount('ended');
    const first = await makeFor(email);
    await updateAccountOf(fixture, email, { active: false });
    expect(await works(first.token)).toBe(false);
    await expect(makeFor(email)).rejects.toMatchObject({ reason: 'account_inactive' });
    await updateAccountOf(fixture, email, { active: true });
    expect(await works(first.token)).toBe(false);
    const second = await makeFor(email);
    await fixture.apply({ accounts: [{ email, active: false }] });
    await fixture.apply({ accounts: [{ email, active: true }] });
    expect(await works(second.token)).toBe(false);
    await waitFor(() => forgotten.includes(first.key.id) && forgotten.includes(second.key.id));
  });

  it('revokes keys when the person is erased, or the account is deleted', async () => {
    const personOf = async (email: string): Promise<number> =>
      (await actorOf((await makeFor(email)).token)).personId ?? 0;
    const [erased, deleted] = [await newAccount('erased'), await newAccount('deleted')];
    const keys = [await makeFor(erased), await makeFor(deleted)];
    await serveErasures(fixture);
    await erase(fixture, await personOf(erased));
    await deleteAccountOf(fixture, deleted);
    expect(await Promise.all(keys.map(({ token }) => works(token)))).toEqual([false, false]);
    await waitFor(() => keys.every(({ key }) => forgotten.includes(key.id)));
  });

  it('keeps keys valid when the password changes, and sends changed rights to the gateways', async () => {
    const { key, token } = await makeFor('ben@example.org');
    await fixture.call(setPassword, { email: 'ben@example.org', password });
    expect(await works(token)).toBe(true);
    await updateAccountOf(fixture, 'ben@example.org', { groups: ['coherence_users'] });
    await waitFor(() => forgotten.includes(key.id));
    expect(await actorOf(token)).toMatchObject({ coherenceAccess: true });
  });

  it('exports the keys of a person without their secrets', async () => {
    const { key } = await makeFor('ada@example.org');
    await serveErasures(fixture);
    const { accounts } = await fixture.call(exportPerson, { person_id: ada.personId ?? 0 });
    expect(JSON.stringify(accounts)).toContain(key.id);
    expect(JSON.stringify(accounts)).not.toContain('sha256');
  });
});

describe('service accounts (K2)', () => {
  it('creates a service account without a password, with a person of the kind service', async () => {
    const account = await fixture.call(createAccount, { email: 'robot@example.org', service_name: ' Robot ' });
    const person = await fixture.call(getPerson, { person_id: account.person_id ?? 0 });
    expect(person).toMatchObject({ name: 'Robot', actor_kind: 'service' });
  });

  it.each([{ password: 'a password of some length' }, { person: 'ada' }, { service_name: ' ' }])(
    'rejects a service account with %j',
    async (wrong) => {
      const request = { email: 'wrong@example.org', service_name: 'Wrong', ...wrong };
      expect(await fixture.refusal(createAccount, request)).toMatchObject({ reason: 'service_account' });
    },
  );

  it('does not create a person for a service account whose email is already used', async () => {
    expect(
      await fixture.refusal(createAccount, { email: 'ada@example.org', service_name: 'Nobody at all' }),
    ).toMatchObject({
      reason: 'account_exists',
    });
    expect(await fixture.env.sql("select 1 from directory.people where name = 'Nobody at all'")).toEqual([]);
  });
});
