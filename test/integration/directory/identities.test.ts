/**
 * Identities in the directory: the account they act as, linking, and protection against taking over another account
 * (rules/access#identity-provider).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { superuser } from '#libs/product/testing';
import { directory } from '#services/directory';
import { accountIdOf, deleteAccountOf, updateAccountOf } from './account-of.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';
import { erase, serveErasures } from './erase.ts';

const { createAccount, exportPerson } = directory.rpcs;
const { linkIdentity, listAudit, listIdentities, signInIdentity, unlinkIdentity, verifyIdentity } = directory.rpcs;
const issuer = 'https://id.example.org';

let fixture: DirectoryFixture;
let byEmail: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url, { OIDC_ISSUER: issuer });
  byEmail = await startDirectoryFixture(import.meta.url, { OIDC_ISSUER: issuer, OIDC_LINK_BY_EMAIL: 'true' });
});
afterAll(async () => {
  await byEmail.stop();
  await fixture.stop();
});

interface Named {
  email: string;
  subject: string;
  issuer?: string;
}
const withId = async (at: DirectoryFixture, { email, ...named }: Named) => ({
  account_id: await accountIdOf(at, email),
  ...named,
});
const link = async (at: DirectoryFixture, named: Named) => at.call(linkIdentity, await withId(at, named));
const linkRefused = async (at: DirectoryFixture, named: Named) => at.refusal(linkIdentity, await withId(at, named));
const unlink = async (at: DirectoryFixture, named: Named) => at.call(unlinkIdentity, await withId(at, named));
const list = async (at: DirectoryFixture, { email }: { email: string }) =>
  at.call(listIdentities, { account_id: await accountIdOf(at, email) });

let made = 0;
/** Creates an account with a person and returns the email of the account. */
async function newAccount(at = fixture): Promise<string> {
  const name = `person-${++made}`;
  await at.apply({
    people: [{ key: name, name }],
    accounts: [{ email: `${name}@example.org`, person: name, password: 'seven green parrots' }],
  });
  return `${name}@example.org`;
}
const verify = (subject: string, email?: string, at = byEmail) =>
  at.call(verifyIdentity, { issuer, subject, ...(email === undefined ? {} : { email }) }, null);
const refusal = async (subject: string, email?: string, at = byEmail): Promise<string> =>
  (await at.refusal(verifyIdentity, { issuer, subject, ...(email === undefined ? {} : { email }) }, null)).code;
const entriesOf = async (
  at: DirectoryFixture,
  action: string,
): Promise<{ changes: unknown; actor: unknown; target: unknown }[]> =>
  (await at.call(listAudit, { action, limit: 200 })).items;

describe('directory.identities.link (S2)', () => {
  it('accepts only the linked identity for the account', async () => {
    const email = await newAccount();
    const { account, changed } = await link(fixture, {
      email: email.toUpperCase(),
      subject: 'ada',
    });
    expect([account.email, changed]).toEqual([email, true]);
    const { actor } = await verify('ada', undefined, fixture);
    expect(actor).toEqual({
      kind: 'user',
      accountId: account.id,
      email,
      personId: expect.any(Number),
      superuser: false,
      globalEditor: false,
      coherenceAccess: false,
      workspaceEditor: false,
      chatAgent: false,
      ops: null,
    });
    await updateAccountOf(fixture, email, { groups: ['coherence_users'] });
    expect((await verify('ada', undefined, fixture)).actor.coherenceAccess).toBe(true);
    expect([await refusal('Ada', undefined, fixture), await refusal('ada ', undefined, fixture)]).toEqual([
      'unauthenticated',
      'unauthenticated',
    ]);
    expect((await fixture.refusal(verifyIdentity, { issuer: `${issuer}/`, subject: 'ada' }, null)).code).toBe(
      'unauthenticated',
    );
  });

  it('changes nothing if the identity is already linked, and rejects an identity of another account', async () => {
    const [email, other] = [await newAccount(), await newAccount()];
    await link(fixture, { email, subject: 'ben' });
    expect((await link(fixture, { email, subject: 'ben' })).changed).toBe(false);
    const { reason, message } = await linkRefused(fixture, { email: other, subject: 'ben' });
    expect([reason, message]).toEqual([
      'identity_linked',
      `The identity is linked to ${email}. Unlink it there first.`,
    ]);
    expect((await verify('ben', undefined, fixture)).actor.email).toBe(email);
  });

  it('links several identities of several issuers to an account, and lists them', async () => {
    const email = await newAccount();
    for (const named of [{ subject: 'c1' }, { subject: 'c2' }, { subject: 'c1', issuer: 'https://other.example.org' }])
      await link(fixture, { email, ...named });
    const { items } = await list(fixture, { email });
    expect(items.map(({ issuer: of, subject, linked_by: by }) => [of, subject, by])).toEqual([
      [issuer, 'c1', 'operator'],
      [issuer, 'c2', 'operator'],
      ['https://other.example.org', 'c1', 'operator'],
    ]);
  });

  it('rejects linking to an unknown account, and an invalid subject', async () => {
    expect((await linkRefused(fixture, { email: 'nobody@example.org', subject: 'x' })).code).toBe('not_found');
    for (const subject of ['', 'x'.repeat(256), 'a\u0000b'])
      expect((await linkRefused(fixture, { email: 'nobody@example.org', subject })).code).toBe('bad_request');
  });
});

describe('directory.identities.unlink', () => {
  it('unlinks an identity, and reports whether it was linked to the account', async () => {
    const email = await newAccount();
    await link(fixture, { email, subject: 'eve' });
    const other = await newAccount();
    expect((await unlink(fixture, { email: other, subject: 'eve' })).changed).toBe(false);
    expect((await unlink(fixture, { email, subject: 'eve' })).changed).toBe(true);
    expect((await unlink(fixture, { email, subject: 'eve' })).changed).toBe(false);
    expect(await refusal('eve', undefined, fixture)).toBe('unauthenticated');
  });
});

describe('directory.identities.sign-in (S3)', () => {
  it('counts sign-ins and console logins of an address together, without audit entries for throttled calls', async () => {
    const limited = await startDirectoryFixture(import.meta.url, {
      OIDC_ISSUER: issuer,
      RATE_LIMIT_LOGIN_PER_MINUTE: '3',
    });
    try {
      const signIn = (ip: string): Promise<{ code: string }> =>
        limited.refusal(signInIdentity, { issuer, subject: 'nobody', ip }, null);
      const codes: string[] = [];
      for (let count = 0; count < 5; count++) codes.push((await signIn('192.0.2.1')).code);
      expect(codes).toEqual(['unauthenticated', 'unauthenticated', 'unauthenticated', 'rate_limited', 'rate_limited']);
      expect((await signIn('192.0.2.2')).code).toBe('unauthenticated');
      const login = await limited.refusal(
        directory.rpcs.login,
        { email: 'a@example.org', password: 'x', ip: '192.0.2.1' },
        null,
      );
      expect(login.code).toBe('unauthenticated');
      const entries = (await limited.call(listAudit, { action: 'login', limit: 200 })).items;
      expect(entries.map(({ changes, outcome }) => [changes, outcome])).toEqual([
        [{ reason: 'credentials' }, 'refused'],
        ...Array.from({ length: 4 }, () => [{ reason: 'identity' }, 'refused']),
      ]);
    } finally {
      await limited.stop();
    }
  });
});

describe('directory.identities.unlink with OIDC_LINK_BY_EMAIL', () => {
  it.each(['email', 'operator'])(
    'does not link the verified email again after an unlink, when it was linked by %s, until an operator links an identity',
    async (by) => {
      const email = await newAccount(byEmail);
      const subject = `unlinked-${by}`;
      await (by === 'email' ? verify(subject, email) : link(byEmail, { email, subject }));
      expect((await list(byEmail, { email })).unlinked_at).toBeNull();
      await unlink(byEmail, { email, subject });
      const tried = [subject, `${subject}-2`, subject].map((who) => refusal(who, email));
      expect(await Promise.all(tried)).toEqual(tried.map(() => 'unauthenticated'));
      expect(await byEmail.refusal(signInIdentity, { issuer, subject, email, ip: '192.0.2.1' }, null)).toMatchObject({
        code: 'unauthenticated',
      });
      expect(await list(byEmail, { email })).toEqual({ items: [], unlinked_at: expect.any(String) });
      await link(byEmail, { email, subject });
      expect([(await verify(subject)).actor.email, await refusal(`${subject}-2`, email)]).toEqual([
        email,
        'unauthenticated',
      ]);
      expect((await list(byEmail, { email })).unlinked_at).toBeNull();
      await unlink(byEmail, { email, subject });
      expect(await refusal(subject, email)).toBe('unauthenticated');
    },
  );

  it('rejects concurrent first sign-ins by email when the identity of the account is unlinked', async () => {
    const email = await newAccount(byEmail);
    await link(byEmail, { email, subject: 'under-way' });
    const [, ...uses] = await Promise.allSettled([
      unlink(byEmail, { email, subject: 'under-way' }),
      ...Array.from({ length: 8 }, (_, index) => verify(`under-way-${index}`, email)),
    ]);
    expect(uses.map(({ status }) => status)).toEqual(uses.map(() => 'rejected'));
    expect((await list(byEmail, { email })).items).toEqual([]);
  });
});

describe('directory.identities.verify (S2, S5)', () => {
  it('does not link an identity by email without OIDC_LINK_BY_EMAIL', async () => {
    const email = await newAccount();
    expect(await refusal('fay', email, fixture)).toBe('unauthenticated');
    expect((await list(fixture, { email })).items).toEqual([]);
  });

  it('links an unknown identity by its verified email at the first sign-in, and keeps the link when the email changes', async () => {
    const email = await newAccount(byEmail);
    expect(await refusal('gus', 'nobody@example.org')).toBe('unauthenticated');
    expect(await refusal('gus')).toBe('unauthenticated');
    const { actor } = await verify('gus', email.toUpperCase());
    expect([actor.email, (await verify('gus')).actor.accountId]).toEqual([email, actor.accountId]);
    const other = await newAccount(byEmail);
    expect((await verify('gus', other)).actor.email).toBe(email);
    expect((await list(byEmail, { email })).items).toEqual([
      { issuer, subject: 'gus', linked_by: 'email', linked_at: expect.any(String) },
    ]);
  });

  it('does not let a later owner of the email take over a linked account', async () => {
    const email = await newAccount(byEmail);
    await verify('hal', email);
    expect(await refusal('hal-2', email)).toBe('unauthenticated');
    const linked = await newAccount(byEmail);
    await link(byEmail, { email: linked, subject: 'ida', issuer: 'https://other.example.org' });
    expect(await refusal('ida-2', linked)).toBe('unauthenticated');
  });

  it('links exactly one of several concurrent identities with the same email', async () => {
    const email = await newAccount(byEmail);
    const subjects = Array.from({ length: 12 }, (_, index) => `race-${index}`);
    const results = await Promise.allSettled(subjects.map((subject) => verify(subject, email)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const again = await Promise.allSettled(Array.from({ length: 6 }, () => verify('race-same', email)));
    expect(again.filter(({ status }) => status === 'fulfilled')).toHaveLength(0);
    const fresh = await newAccount(byEmail);
    const same = await Promise.all(Array.from({ length: 6 }, () => verify('same', fresh)));
    expect(new Set(same.map(({ actor }) => actor.email))).toEqual(new Set([fresh]));
  });

  it('rejects identities of a deactivated account, and links none to it', async () => {
    const [linked, unlinked] = [await newAccount(byEmail), await newAccount(byEmail)];
    await verify('joe', linked);
    for (const email of [linked, unlinked]) await updateAccountOf(byEmail, email, { active: false });
    expect([await refusal('joe'), await refusal('joe', linked), await refusal('kim', unlinked)]).toEqual(
      Array.from({ length: 3 }, () => 'unauthenticated'),
    );
    expect((await list(byEmail, { email: unlinked })).items).toEqual([]);
    await updateAccountOf(byEmail, linked, { active: true });
    expect((await verify('joe')).actor.email).toBe(linked);
  });
});

describe('identities in the audit log (A1, A4)', () => {
  it('records a first sign-in for the account and CLI changes for the operator, without the subject', async () => {
    const email = await newAccount(byEmail);
    const { actor } = await verify('lou-of-the-log', email);
    await verify('lou-of-the-log', email);
    await link(byEmail, { email, subject: 'lou-2-of-the-log' });
    await unlink(byEmail, { email, subject: 'lou-2-of-the-log' });
    const target = { type: 'account', id: String(actor.accountId) };
    const own = (await entriesOf(byEmail, 'account.link')).filter(
      ({ target: of }) => JSON.stringify(of) === JSON.stringify(target),
    );
    expect(own).toEqual([
      expect.objectContaining({
        actor: expect.objectContaining({ kind: 'account', account_id: superuser.accountId }),
        changes: { issuer, linked_by: 'operator' },
      }),
      expect.objectContaining({
        actor: expect.objectContaining({ kind: 'account', account_id: actor.accountId }),
        changes: { issuer, linked_by: 'email' },
      }),
    ]);
    const [unlinked] = await entriesOf(byEmail, 'account.unlink');
    expect(unlinked).toEqual(expect.objectContaining({ target, changes: { issuer } }));
    expect(await byEmail.env.sql("select 1 from directory.audit_log l where l::text like '%of-the-log%'")).toEqual([]);
  });
});

describe('identities in personal data', () => {
  it('exports identities with the account, and removes them with the account and at an erasure', async () => {
    const email = await newAccount();
    const { account } = await link(fixture, { email, subject: 'mia' });
    const [row] = await fixture.env.sql<{ person_id: number }>(
      'select person_id from directory.accounts where id = $1',
      [account.id],
    );
    const person_id = row?.person_id ?? 0;
    await serveErasures(fixture);
    const { accounts } = await fixture.call(exportPerson, { person_id });
    expect(accounts).toEqual([
      expect.objectContaining({
        identities: [expect.objectContaining({ issuer, subject: 'mia', linked_by: 'operator' })],
      }),
    ]);
    await erase(fixture, person_id);
    expect(await refusal('mia', undefined, fixture)).toBe('unauthenticated');
    const service = 'a-service@example.org';
    await fixture.call(createAccount, { email: service, service_name: 'A service' });
    await link(fixture, { email: service, subject: 'of-a-service' });
    await deleteAccountOf(fixture, service);
    expect(
      await fixture.env.sql("select subject from directory.identities where subject in ('mia', 'of-a-service')"),
    ).toEqual([]);
  });
});

describe('identities without a configured issuer', () => {
  it('requires an issuer in the request when none is configured', async () => {
    const nameless = await startDirectoryFixture(import.meta.url);
    try {
      await nameless.call(createAccount, { email: 'ann@example.org', service_name: 'Ann' });
      for (const rpc of [linkIdentity, unlinkIdentity])
        expect(
          (await nameless.refusal(rpc, { account_id: await accountIdOf(nameless, 'ann@example.org'), subject: 'x' }))
            .reason,
        ).toBe('no_issuer');
      expect((await link(nameless, { email: 'ann@example.org', subject: 'x', issuer })).changed).toBe(true);
    } finally {
      await nameless.stop();
    }
  });
});
