/** Audit entries of each operation of the directory (A1), and read access to these entries (A3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Actor, type AuditEntry, auditRpcs, type RequestOf } from '#libs/infrastructure/contract';
import { superuser } from '#libs/product/testing';
import { directory } from '#services/directory';
import { deleteAccountOf, updateAccountOf } from './account-of.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';
import { erase, serveErasures } from './erase.ts';

const bySuperuser = { kind: 'account', account_id: superuser.accountId, key_id: null };
const { createAccount, deleteAccount, login, logout, nameAccounts, patchStepConfig } = directory.rpcs;
const { refuseLogin, setPassword, verifySession, applyWorkspace } = directory.rpcs;
const { listAudit } = auditRpcs('directory');
const ip = '192.0.2.1';
const email = 'ada@example.org';
const password = 'the right password';
const document = {
  people: [
    { key: 'ada', name: 'Ada Okafor' },
    { key: 'ben', name: 'Ben' },
  ],
  accounts: [
    { email, person: 'ada', password, groups: ['coherence_users'] },
    { email: 'loner@example.org', password: 'the password of loner' },
    { email: 'ben@example.org', person: 'ben', password: 'the password of ben' },
  ],
  journeys: [
    {
      slug: 'circle',
      name: 'Circle',
      is_conversation: true,
      steps: [{ slug: 'held', title: 'Held', pipeline_job: 'transcript_import', config: { advance_on_success: true } }],
    },
  ],
};

let fixture: DirectoryFixture;
let ids: Record<string, Record<string, number>>;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  ({ ids } = await fixture.apply(document));
});
afterAll(() => fixture.stop());

const accountOf = async (who: string): Promise<number> =>
  (await fixture.env.sql<{ id: number }>('select id from directory.accounts where email = $1', [who]))[0]?.id ?? 0;
const search = async (filter: Partial<RequestOf<typeof listAudit>> = {}): Promise<AuditEntry[]> => [
  ...(await fixture.call(listAudit, { limit: 100, ...filter })).items,
];
/** Returns the audit entries that `work` adds, oldest first. */
async function written(work: () => Promise<unknown>): Promise<AuditEntry[]> {
  const [last] = await search({ limit: 1 });
  await work().catch(() => undefined);
  return (await search()).filter(({ id }) => id > (last?.id ?? 0)).toReversed();
}
const cli = { kind: 'cli', account_id: null, key_id: null };
const shape = { id: expect.any(Number), at: expect.any(String), request_id: expect.any(String) };

describe('logins in the audit log (A1)', () => {
  it('records account and address of a successful login', async () => {
    const id = await accountOf(email);
    expect(await written(() => fixture.call(login, { email, password, ip }))).toEqual([
      {
        ...shape,
        actor: { kind: 'account', account_id: id, key_id: null },
        action: 'login',
        target: { type: 'account', id: String(id) },
        changes: null,
        ip,
        outcome: 'ok',
      },
    ]);
  });

  it('records the account of a rejected login with a known email, and no account for unknown emails and wrong gate keys (A4)', async () => {
    const id = await accountOf(email);
    const refused = { ...shape, action: 'login', ip, outcome: 'refused' };
    expect(await written(() => fixture.call(login, { email: ' ADA@example.org', password: 'wrong', ip }))).toEqual([
      {
        ...refused,
        actor: { kind: 'account', account_id: id, key_id: null },
        target: { type: 'account', id: String(id) },
        changes: { reason: 'credentials' },
      },
    ]);
    const nobody = { ...refused, actor: { kind: 'account', account_id: null, key_id: null }, target: null };
    expect(
      await written(() =>
        fixture.call(login, { email: 'my secret password', password: 'typed into the wrong field', ip }),
      ),
    ).toEqual([{ ...nobody, changes: { reason: 'credentials' } }]);
    expect(await written(() => fixture.call(refuseLogin, { ip }))).toEqual([
      { ...nobody, changes: { reason: 'gate_key' } },
    ]);
    expect(
      await written(() => fixture.call(login, { email: 'loner@example.org', password: 'the password of loner', ip })),
    ).toMatchObject([{ changes: { reason: 'no_person' }, outcome: 'refused' }]);
  });

  it('does not record the values entered at a login', async () => {
    const rows = await fixture.env.sql<{ text: string }>('select l::text as text from directory.audit_log l');
    for (const { text } of rows) expect(text).not.toMatch(/secret|wrong field|right password|example\.org|Okafor/);
  });

  it('records a logout once', async () => {
    const { token } = await fixture.call(login, { email, password, ip });
    const { actor } = await fixture.call(verifySession, { token });
    expect(await written(() => fixture.call(logout, {}, actor))).toMatchObject([
      { action: 'logout', actor: { kind: 'account', account_id: await accountOf(email) }, outcome: 'ok' },
    ]);
    expect(await written(() => fixture.call(logout, {}, actor))).toEqual([]);
  });
});

describe('accounts in the audit log (A1)', () => {
  const who = 'carla@example.org';
  let id: number;
  const entry = (action: string, changes: unknown, actor: unknown = bySuperuser) => [
    { ...shape, actor, action, target: { type: 'account', id: String(id) }, changes, ip: null, outcome: 'ok' },
  ];

  it('records each account change with the new rights, without the password', async () => {
    const entries = await written(() =>
      fixture.call(createAccount, { email: who, password: 'seven green parrots', groups: ['ops_viewers'] }),
    );
    id = await accountOf(who);
    expect(entries).toEqual(
      entry(
        'account.create',
        { superuser: false, global_editor: false, groups: ['ops_viewers'], password: 'changed' },
        cli,
      ),
    );
    expect(await written(() => updateAccountOf(fixture, who, { global_editor: true }))).toEqual(
      entry('account.update', { global_editor: true }),
    );
    expect(await written(() => fixture.call(setPassword, { email: who, password: 'eight green parrots' }))).toEqual(
      entry('account.set-password', { password: 'changed' }, cli),
    );
    expect(await written(() => updateAccountOf(fixture, who, { active: false }))).toEqual(
      entry('account.update', { active: false }),
    );
    expect(await written(() => deleteAccountOf(fixture, who))).toEqual(entry('account.delete', { person_id: null }));
  });

  it('does not record account calls that are rejected or change nothing', async () => {
    const updatedAt = async () =>
      (
        await fixture.env.sql<{ at: string }>(
          'select updated_at::text as at from directory.accounts where email = $1',
          [email],
        )
      )[0]?.at;
    const before = await updatedAt();
    for (const work of [
      () => updateAccountOf(fixture, email, { groups: ['coherence_users'] }),
      () => updateAccountOf(fixture, email, { groups: ['nobodies'] }),
      () => fixture.call(createAccount, { email }),
      () => fixture.call(deleteAccount, { account_id: 999_999 }),
    ])
      expect(await written(work)).toEqual([]);
    expect(await updatedAt()).toBe(before);
  });
});

describe('service keys in the audit log (A1)', () => {
  it('records creation, rotation and revocation of a service key with its scopes, without token and name', async () => {
    const accountId = await accountOf(email);
    const user: Actor = {
      kind: 'user',
      accountId,
      personId: 1,
      superuser: true,
      globalEditor: false,
      coherenceAccess: true,
    };
    const byKey: Actor = { ...user, key: { id: 'k0', scopes: ['*'] } };
    let id = '';
    const { createKey, rotateKey, revokeKey } = directory.rpcs;
    const entries = await written(async () => {
      ({ id } = (await fixture.call(createKey, { name: 'Secret name', scopes: ['ops:read'] }, user)).key);
      await fixture.call(rotateKey, { key_id: id, overlap_seconds: 60 }, byKey);
      await fixture.call(revokeKey, { key_id: id }, byKey);
      await fixture.call(revokeKey, { key_id: id }, byKey);
    });
    const target = { type: 'key', id };
    expect(entries).toMatchObject([
      {
        actor: { kind: 'account', account_id: accountId, key_id: null },
        action: 'key.create',
        target,
        changes: { account_id: accountId, scopes: ['ops:read'], expires_at: null },
      },
      {
        actor: { kind: 'key', account_id: accountId, key_id: 'k0' },
        action: 'key.rotate',
        target,
        changes: { overlap_seconds: 60 },
      },
      { actor: { kind: 'key', account_id: accountId, key_id: 'k0' }, action: 'key.revoke', target, changes: null },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/Secret name|svc_key/);
  });
});

describe('step configuration and workspace file in the audit log (A1)', () => {
  const step = () => ids['steps']?.['circle/held'];

  it('records the dotted paths of changed step configuration, without values', async () => {
    const accountId = await accountOf(email);
    const editor: Actor = {
      kind: 'user',
      accountId,
      personId: 1,
      superuser: true,
      globalEditor: false,
      coherenceAccess: true,
    };
    const write = { config: { advance_on_success: false } };
    const patch = (config = write.config) =>
      written(() =>
        fixture.call(patchStepConfig, { journey_slug: 'circle', step_slug: 'held', write: { config } }, editor),
      );
    expect(await patch()).toEqual([
      {
        ...shape,
        actor: { kind: 'account', account_id: accountId, key_id: null },
        action: 'step-config.update',
        target: { type: 'step', id: String(step()) },
        changes: { paths: ['advance_on_success'], count: 1 },
        ip: null,
        outcome: 'ok',
      },
    ]);
    expect(await patch()).toEqual([]);
    expect(await patch({} as typeof write.config)).toEqual([]);
  });

  it('records the application of a workspace file as one entry: counts, account ids, and step ids with paths', async () => {
    const id = await accountOf(email);
    const changed = structuredClone(document);
    const entries = await written(() =>
      fixture.apply({
        ...changed,
        people: [...changed.people, { key: 'new', name: 'New Person' }],
        accounts: [
          { email, superuser: true },
          { email: 'new@example.org', person: 'new' },
        ],
        journeys: [{ slug: 'circle', steps: [{ slug: 'held', config: { advance_on_success: true } }] }],
      }),
    );
    expect(entries).toMatchObject([
      {
        actor: cli,
        action: 'workspace.apply',
        target: null,
        changes: {
          lists: {
            people: { created: 1, updated: 0 },
            accounts: { created: 1, updated: 1 },
            journeys: { created: 0, updated: 1 },
          },
          accounts: {
            items: [
              { id: await accountOf('new@example.org'), created: true },
              { id, fields: ['superuser'] },
            ],
            count: 2,
          },
          configuration: { items: [{ step_id: step(), paths: ['advance_on_success'] }], count: 1 },
        },
      },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/New Person|example\.org/);
  });

  it('does not record a dry run or an application of a workspace file that changes nothing', async () => {
    const people = [{ key: 'newer', name: 'Newer' }];
    expect(await written(() => fixture.call(applyWorkspace, { document: { people }, dry_run: true }))).toEqual([]);
    expect(await written(() => fixture.apply({ people: [{ key: 'new', name: 'New Person' }] }))).toEqual([]);
  });

  it('records an erasure with person id and counts', async () => {
    const id = ids['people']?.['ben'] ?? 0;
    const target = { type: 'person', id: String(id) };
    await serveErasures(fixture);
    expect(await written(() => erase(fixture, id))).toMatchObject([
      { actor: bySuperuser, action: 'person.erase', target, changes: { erasure: expect.any(Number) } },
      { actor: bySuperuser, action: 'person.erase', target, changes: { removed: { people: 1, accounts: 1 } } },
    ]);
  });
});

describe('directory.audit.list (A3; rules/audit#reading-it)', () => {
  const user = (ops?: 'read' | 'act' | null): Actor => ({
    kind: 'user',
    accountId: 1,
    personId: 1,
    superuser: false,
    globalEditor: true,
    coherenceAccess: true,
    ...(ops === undefined ? {} : { ops }),
  });

  it('allows the audit log to accounts with operator access, and rejects all others', async () => {
    for (const ops of ['read', 'act'] as const) {
      expect((await fixture.call(listAudit, { limit: 1 }, user(ops))).items).toHaveLength(1);
      await expect(fixture.call(nameAccounts, { ids: [], email }, user(ops))).resolves.toMatchObject({
        items: [{ email }],
      });
    }
    for (const ops of [undefined, null]) {
      expect(await fixture.refusal(listAudit, { limit: 1 }, user(ops))).toMatchObject({ code: 'permission_denied' });
      expect(await fixture.refusal(nameAccounts, { ids: [], email }, user(ops))).toMatchObject({
        code: 'permission_denied',
      });
    }
    expect(await fixture.refusal(listAudit, { limit: 1 }, { kind: 'shared' })).toMatchObject({ code: 'internal' });
    expect(await fixture.refusal(listAudit, { limit: 1 }, null)).toMatchObject({ code: 'internal' });
  });

  it('filters the audit log by account, action, target and time, and continues after a given entry', async () => {
    const all = await search();
    const [newest, second] = all;
    expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => all.length - index));
    const account = await accountOf(email);
    expect(await search({ account_id: account })).toEqual(all.filter(({ actor }) => actor.account_id === account));
    expect(await search({ action: 'login' })).toEqual(all.filter(({ action }) => action === 'login'));
    const target = { target_type: 'account', target_id: String(account) };
    expect(await search(target)).toEqual(
      all.filter((item) => item.target?.type === 'account' && item.target.id === String(account)),
    );
    const at = all[3]?.at ?? '';
    expect(await search({ from: at })).toEqual(all.slice(0, 4));
    expect(await search({ to: at })).toEqual(all.slice(4));
    expect(await search({ before: { at: newest?.at ?? '', id: newest?.id ?? 0 }, limit: 1 })).toEqual([second]);
    expect(await search({ action: 'nothing' })).toEqual([]);
  });
});
