/** Accounts over HTTP: list, read, create with an invitation, update, reset; the last superuser (W7, W19). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type Applied, eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let ids: Applied['ids'];
let root: string;
let editor: string;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    { RATE_LIMIT_LOGIN_PER_MINUTE: '0' },
    { services: ['api-gateway', 'directory'] },
  );
  ({ ids } = await platform.apply({
    classes: [{ slug: 'group', label: 'Group' }],
    holons: [
      { slug: 'north', name: 'North', class: 'group' },
      { slug: 'south', name: 'South', class: 'group' },
    ],
    people: [
      { key: 'rita', name: 'Rita' },
      { key: 'ed', name: 'Ed' },
      { key: 'new', name: 'Newt' },
    ],
    accounts: [
      { email: 'rita@example.org', person: 'rita', password: 'secret of rita root', superuser: true },
      { email: 'Ed@Example.org', person: 'ed', password: 'secret of ed editor', global_editor: true },
      { email: 'idle@example.org', active: false },
    ],
  }));
  root = await platform.login('rita@example.org', 'secret of rita root');
  platform.logInCli(root);
  editor = await platform.login('ed@example.org', 'secret of ed editor');
});
afterAll(() => platform.stop());

const strong = 'nine yellow umbrellas';
const accounts = '/api/v1/accounts';
const get = (path: string, token = root): Promise<Answer> => platform.call('GET', `${accounts}${path}`, { token });
const post = (
  path: string,
  json: unknown,
  { token = root, ...headers }: Record<string, string> = {},
): Promise<Answer> => platform.call('POST', `${accounts}${path}`, { token, json, headers });
const update = (id: number, json: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  post(`/${id}/update`, json, headers);
const accept = (token: string, password: string, origin = platform.baseUrl): Promise<Answer> =>
  platform.call('POST', '/console/invitation', { token: null, json: { token, password }, headers: { origin } });
const refused = ({ status, json }: Answer): unknown[] => [status, json.code ?? json.error];
const sortedStatuses = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((left, right) => left - right);
const historyOf = async (id: number): Promise<any[]> => (await get(`/${id}/history`)).json.items;
const auditOf = async (id: number): Promise<unknown[]> =>
  (
    await platform.sql(
      `select action from directory.audit_log where target_type = 'account' and target_id = $1 order by id`,
      [String(id)],
    )
  ).map(({ action }) => action);

let count = 0;
async function create(fields: Record<string, unknown> = {}): Promise<{ id: number; email: string; token: string }> {
  const email = `person-${++count}@example.org`;
  const { status, json } = await post('', { email, ...fields });
  expect(status).toBe(201);
  return { id: json.account.id, email, token: json.invitation.token };
}
async function createActive(fields: Record<string, unknown> = {}): Promise<{ id: number; email: string }> {
  const { token, ...account } = await create({ person_id: ids['people']?.['new'], ...fields });
  expect((await accept(token, strong)).status).toBe(200);
  return account;
}
const holon = (slug: string): number => Number(ids['holons']?.[slug]);

describe('GET /api/v1/accounts (W19)', () => {
  it('lists accounts by email, in pages, and finds them by a part of the email', async () => {
    const first = await get('?limit=2');
    expect(first.json.items.map(({ email }: { email: string }) => email)).toEqual([
      'Ed@Example.org',
      'idle@example.org',
    ]);
    const second = await get(`?limit=2&cursor=${first.json.next}`);
    expect(second.json).toMatchObject({ items: [{ email: 'rita@example.org' }], next: null });
    expect((await get('?q=ED@ex')).json.items).toHaveLength(1);
    expect((await get('?q=%25')).json.items).toEqual([]);
    expect((await get('?active=false')).json.items).toMatchObject([{ email: 'idle@example.org', active: false }]);
    expect((await get('?superuser=true&group=ops_viewers')).json.items).toEqual([]);
  });

  it('returns 400 for an unknown group and for a malformed cursor', async () => {
    expect(refused(await get('?group=admins'))).toEqual([400, 'validation_error']);
    for (const cursor of ['x', Buffer.from('["jobs","a"]').toString('base64url')])
      expect(refused(await get(`?cursor=${cursor}`))).toEqual([400, 'validation_error']);
  });
});

describe('rights on accounts (rules/access#accounts; W7)', () => {
  it('are limited to superusers, and unknown accounts look like existing ones to others', async () => {
    const id = ids['accounts']?.['rita@example.org'];
    for (const path of ['', `/${id}`, '/999999', `/${id}/history`, '/999999/history'])
      expect(refused(await get(path, editor))).toEqual([403, 'permission_denied']);
    for (const [path, body] of [
      ['', { email: 'x@example.org' }],
      ['', { email: 'no address' }],
      [`/${id}/update`, { superuser: false }],
      ['/999999/update', {}],
      [`/${id}/reset-password`, {}],
    ] as const)
      expect(refused(await post(path, body, { token: editor }))).toEqual([403, 'permission_denied']);
    for (const path of ['/999999', '/0', '/2147483648']) expect(refused(await get(path))).toEqual([404, 'not_found']);
    expect(refused(await update(999_999, {}))).toEqual([404, 'not_found']);
    expect(refused(await post('/999999/reset-password', {}))).toEqual([404, 'not_found']);
  });

  it('need the scope accounts:write of a service key', async () => {
    const keyOf = async (scope: string): Promise<string> =>
      (await platform.call('POST', '/api/v1/keys', { token: root, json: { name: scope, scopes: [scope] } })).json.token;
    expect(refused(await get('', await keyOf('directory:write')))).toEqual([403, 'insufficient_scope']);
    expect((await get('', await keyOf('accounts:write'))).status).toBe(200);
  });
});

describe('POST /api/v1/accounts (W7)', () => {
  it('creates an account with an invitation that is returned once and stored as a hash', async () => {
    const request = {
      email: ' Nova@Example.org ',
      person_id: ids['people']?.['new'],
      groups: ['ops_viewers', 'coherence_users', 'ops_viewers'],
      global_editor: true,
      teams: [{ holon_id: holon('south'), active: false }, { holon_id: holon('north') }],
    };
    const { status, json, headers } = await post('', request);
    expect(status).toBe(201);
    const { account, invitation } = json;
    expect(account).toEqual({
      id: expect.any(Number),
      email: 'Nova@Example.org',
      person_id: request.person_id,
      person_name: 'Newt',
      active: true,
      superuser: false,
      global_editor: true,
      groups: ['coherence_users', 'ops_viewers'],
      teams: [
        { holon_id: holon('north'), active: true },
        { holon_id: holon('south'), active: false },
      ],
      has_password: false,
      invitation_expires_at: invitation.expires_at,
      created_at: expect.any(String),
    });
    expect(invitation.url).toBe(`${platform.baseUrl}/console/invitation#${invitation.token}`);
    const hours = (Date.parse(invitation.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(71.9);
    expect(hours).toBeLessThanOrEqual(72);
    const read = await get(`/${account.id}`);
    expect([read.json, read.headers.get('etag')]).toEqual([{ account }, headers.get('etag')]);
    expect(await platform.findInDatabase(invitation.token)).toEqual([]);
    expect(await platform.readLogs()).not.toContain(invitation.token);
    const [entry] = await historyOf(account.id);
    expect(entry).toMatchObject({ via: 'api', actor: { name: 'Rita' } });
    expect(entry.changes).toMatchObject({
      email: { old: null, new: 'Nova@Example.org' },
      active: { old: null, new: true },
    });
    expect(Object.values(entry.changes).every((change: any) => change.old === null)).toBe(true);
  });

  it('returns 409 for a used email, ignoring case and inactive accounts included', async () => {
    for (const email of ['ED@example.ORG', ' IDLE@example.org'])
      expect(refused(await post('', { email }))).toEqual([409, 'email_taken']);
  });

  it('creates one account for concurrent equal requests', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => post('', { email: 'race@example.org' })));
    expect(sortedStatuses(answers)).toEqual([201, 409, 409, 409, 409]);
  });

  it.each([
    ['not an address', 400, { email: 'no address' }],
    ['an unknown person', 400, { email: 'a@example.org', person_id: 999_999 }],
    ['an impossible person', 400, { email: 'a@example.org', person_id: 0 }],
    ['an unknown group', 400, { email: 'a@example.org', groups: ['admins'] }],
    ['an unknown holon', 400, { email: 'a@example.org', teams: [{ holon_id: 999_999 }] }],
    ['an impossible holon', 400, { email: 'a@example.org', teams: [{ holon_id: -1 }] }],
    ['no email', 422, {}],
    ['a text as right', 422, { email: 'a@example.org', superuser: 'yes' }],
    ['too many groups', 422, { email: 'a@example.org', groups: Array.from({ length: 101 }, () => 'ops_viewers') }],
    ['a long email', 422, { email: `${'a'.repeat(320)}@example.org` }],
  ])('rejects %s with %i and stores nothing', async (_name, status, body) => {
    expect((await post('', body)).status).toBe(status);
    expect((await get('?q=a@example.org')).json.items.filter((item: any) => item.email === 'a@example.org')).toEqual(
      [],
    );
  });

  it('rejects a holon that is named twice', async () => {
    const teams = [{ holon_id: holon('north') }, { holon_id: holon('north'), active: false }];
    expect(refused(await post('', { email: 'b@example.org', teams }))).toEqual([400, 'validation_error']);
  });

  it('replays the response under its Idempotency-Key, with the same token, which no table has', async () => {
    const headers = { 'idempotency-key': 'create-once' };
    const first = await post('', { email: 'once@example.org' }, headers);
    const second = await post('', { email: 'once@example.org' }, headers);
    expect([second.status, second.json, second.headers.get('idempotent-replayed')]).toEqual([201, first.json, 'true']);
    expect(await platform.findInDatabase(first.json.invitation.token)).toEqual([]);
    expect(refused(await post('', { email: 'twice@example.org' }, headers))).toEqual([422, 'idempotency_key_reused']);
    expect((await accept(second.json.invitation.token, strong)).status).toBe(200);
  });
});

describe('POST /api/v1/accounts/{account_id}/update (W7)', () => {
  it('changes rights and reports them by the names of the request', async () => {
    const { id } = await create({ groups: ['ops_viewers'], teams: [{ holon_id: holon('north') }] });
    const before = await get(`/${id}`);
    const person = ids['people']?.['ed'];
    const answer = await update(id, {
      groups: ['coherence_users'],
      global_editor: true,
      superuser: false,
      person_id: person,
      teams: [{ holon_id: holon('south') }],
    });
    const changes = {
      groups: { old: ['ops_viewers'], new: ['coherence_users'] },
      global_editor: { old: false, new: true },
      person_id: { old: null, new: person },
      teams: {
        old: [{ holon_id: holon('north'), active: true }],
        new: [{ holon_id: holon('south'), active: true }],
      },
    };
    expect([answer.status, answer.json.changes]).toEqual([200, changes]);
    const after = await get(`/${id}`);
    expect(after.json).toEqual({ account: answer.json.account });
    expect(answer.headers.get('etag')).toBe(after.headers.get('etag'));
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect((await historyOf(id))[0].changes).toEqual(changes);
    expect(await auditOf(id)).toEqual(['account.create', 'account.update']);
    expect((await update(id, { person_id: null, teams: [] })).json.account).toMatchObject({
      person_id: null,
      teams: [],
    });
  });

  it('writes nothing for the current values', async () => {
    const { id } = await create();
    const { json } = await update(id, { active: true, groups: [], teams: [], person_id: null });
    expect(json.changes).toEqual({});
    expect(await historyOf(id)).toHaveLength(1);
    expect(await auditOf(id)).toEqual(['account.create']);
  });

  it('returns 412 without a match of If-Match and changes nothing', async () => {
    const { id } = await create();
    const etag = (await get(`/${id}`)).headers.get('etag') ?? '';
    expect((await update(id, { global_editor: true }, { 'if-match': etag })).status).toBe(200);
    expect(refused(await update(id, { global_editor: false }, { 'if-match': etag }))).toEqual([
      412,
      'precondition_failed',
    ]);
    expect(refused(await post(`/${id}/reset-password`, {}, { 'if-match': etag }))).toEqual([
      412,
      'precondition_failed',
    ]);
    expect((await get(`/${id}`)).json.account).toMatchObject({ global_editor: true });
  });

  it.each([{ groups: ['x'] }, { person_id: 999_999 }, { teams: [{ holon_id: 999_999 }] }])(
    'returns 400 for %j and changes nothing',
    async (body) => {
      const { id } = await create();
      expect(refused(await update(id, { global_editor: true, ...body }))).toEqual([400, 'validation_error']);
      expect((await get(`/${id}`)).json.account.global_editor).toBe(false);
    },
  );

  it('changes the rights of tokens at once, and ends tokens and the invitation of a deactivated account', async () => {
    const { id, email } = await createActive();
    const token = await platform.login(email, strong);
    expect((await get('', token)).status).toBe(403);
    await update(id, { superuser: true });
    await eventually(async () => expect((await get('', token)).status).toBe(200));
    const invited = (await post(`/${id}/reset-password`, {})).json.invitation;
    expect((await update(id, { active: false, superuser: false })).json.changes).toMatchObject({
      active: { old: true, new: false },
    });
    expect(refused(await accept(invited.token, strong))).toEqual([410, 'invitation_ended']);
    expect(refused(await post(`/${id}/reset-password`, {}))).toEqual([409, 'account_inactive']);
    await update(id, { active: true });
    expect(refused(await accept(invited.token, strong))).toEqual([410, 'invitation_ended']);
  });
});

describe('DELETE /api/v1/accounts/{account_id} (W7)', () => {
  const remove = (id: number, headers: Record<string, string> = {}, token = root): Promise<Answer> =>
    platform.call('DELETE', `${accounts}/${id}`, { token, headers });

  it('deletes the account with its sessions and keys, and keeps its person', async () => {
    const { id, email } = await createActive();
    const token = await platform.login(email, strong);
    const key = await platform.call('POST', '/api/v1/keys', { token, json: { name: 'x', scopes: ['*'] } });
    const deleted = await remove(id);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    for (const bearer of [token, key.json.token])
      await eventually(async () =>
        expect((await platform.call('GET', '/api/v1/people?limit=1', { token: bearer })).status).toBe(401),
      );
    expect(refused(await get(`/${id}`))).toEqual([404, 'not_found']);
    expect(refused(await remove(id))).toEqual([404, 'not_found']);
    expect((await platform.call('GET', `/api/v1/people/${ids['people']?.['new']}`, { token: root })).status).toBe(200);
    expect(await auditOf(id)).toContain('account.delete');
    expect((await post('', { email })).status).toBe(201);
  });

  it('returns 403 to others, and 412 without a match of If-Match', async () => {
    const { id } = await create();
    expect(refused(await remove(id, {}, editor))).toEqual([403, 'permission_denied']);
    expect(refused(await remove(999_999, {}, editor))).toEqual([403, 'permission_denied']);
    expect(refused(await remove(id, { 'if-match': '"x"' }))).toEqual([412, 'precondition_failed']);
    const etag = (await get(`/${id}`)).headers.get('etag') ?? '';
    expect((await remove(id, { 'if-match': etag })).status).toBe(204);
  });
});

describe('identities of an account (S2)', () => {
  const issuer = 'https://id.example.org';

  it('are linked, listed and unlinked', async () => {
    const [{ id, email }, other] = [await create(), await create()];
    const identity = { issuer, subject: 'one' };
    const linked = await post(`/${id}/identities/link`, identity);
    expect([linked.status, linked.json]).toEqual([200, { account: { id, email }, ...identity, changed: true }]);
    expect((await get(`/${id}/identities`)).json).toEqual({
      items: [{ ...identity, linked_by: 'operator', linked_at: expect.any(String) }],
      unlinked_at: null,
    });
    expect(refused(await post(`/${other.id}/identities/link`, identity))).toEqual([409, 'identity_linked']);
    expect((await post(`/${id}/identities/unlink`, identity)).json.changed).toBe(true);
    expect((await get(`/${id}/identities`)).json).toEqual({ items: [], unlinked_at: expect.any(String) });
  });

  it('are limited to superusers, and need an issuer, a subject and an existing account', async () => {
    const { id } = await create();
    for (const act of ['link', 'unlink']) {
      const path = `/${id}/identities/${act}`;
      expect(refused(await post(path, { issuer, subject: 'x' }, { token: editor }))).toEqual([
        403,
        'permission_denied',
      ]);
      expect(refused(await post(path, { subject: 'x' }))).toEqual([400, 'no_issuer']);
      expect((await post(path, { issuer })).status).toBe(422);
      expect(refused(await post(`/999999/identities/${act}`, { issuer, subject: 'x' }))).toEqual([404, 'not_found']);
    }
    expect(refused(await get(`/${id}/identities`, editor))).toEqual([403, 'permission_denied']);
    expect(refused(await get('/999999/identities'))).toEqual([404, 'not_found']);
  });
});

describe('invitations (W7, W19)', () => {
  it('set the password once', async () => {
    const { id, email, token } = await create({ person_id: ids['people']?.['new'] });
    const weak = await accept(token, 'short');
    expect(refused(weak)).toEqual([400, 'weak_password']);
    const accepted = await accept(token, strong);
    expect([accepted.status, accepted.json, accepted.headers.get('cache-control')]).toEqual([
      200,
      { email },
      'no-store',
    ]);
    await platform.login(email, strong);
    expect(refused(await accept(token, 'ten orange umbrellas'))).toEqual([410, 'invitation_ended']);
    expect((await get(`/${id}`)).json.account).toMatchObject({ has_password: true, invitation_expires_at: null });
    expect((await historyOf(id))[0]).toMatchObject({
      via: 'console',
      actor: { kind: 'account', name: 'Newt', account_id: id },
      changes: { password: { changed: true } },
    });
  });

  it('are used by one of concurrent requests', async () => {
    const { token } = await create();
    const answers = await Promise.all(Array.from({ length: 4 }, (_, n) => accept(token, `${strong} ${n}`)));
    expect(sortedStatuses(answers)).toEqual([200, 410, 410, 410]);
  });

  it('end when they expire, are replaced or unknown', async () => {
    const { id, token } = await create();
    const { invitation } = (await post(`/${id}/reset-password`, {})).json;
    expect(refused(await accept(token, strong))).toEqual([410, 'invitation_ended']);
    await platform.sql(
      `update directory.invitations set expires_at = now() - interval '1 second' where account_id = $1`,
      [id],
    );
    expect(refused(await accept(invitation.token, strong))).toEqual([410, 'invitation_ended']);
    for (const unknown of ['', 'x', `${token}x`])
      expect(refused(await accept(unknown, 'short'))).toEqual([410, 'invitation_ended']);
  });

  it('end when an operator sets the password in the admin CLI', async () => {
    const { email, token } = await create();
    process.env['NEW_PASSWORD'] = 'eleven silver umbrellas';
    await platform.ask('accounts', 'set-password', email, '--password-env', 'NEW_PASSWORD');
    expect(refused(await accept(token, strong))).toEqual([410, 'invitation_ended']);
  });

  it('are accepted from pages of the console only', async () => {
    const { token } = await create();
    expect((await accept(token, strong, 'https://evil.example')).status).toBe(403);
    expect((await accept(token, strong)).status).toBe(200);
  });
});

describe('POST /api/v1/accounts/{account_id}/reset-password (W19)', () => {
  it('ends the old password and all sessions at once, and keeps service keys', async () => {
    const { id, email } = await createActive();
    const token = await platform.login(email, strong);
    const key = await platform.call('POST', '/api/v1/keys', { token, json: { name: 'k', scopes: ['directory:read'] } });
    const { status, json } = await post(`/${id}/reset-password`, {}, { 'idempotency-key': `reset-${id}` });
    expect([status, Object.keys(json)]).toEqual([200, ['invitation']]);
    await eventually(async () =>
      expect((await platform.call('GET', '/api/v1/auth/whoami', { token })).status).toBe(401),
    );
    await expect(platform.login(email, strong)).rejects.toThrow();
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token: key.json.token })).status).toBe(200);
    expect((await get(`/${id}`)).json.account).toMatchObject({ has_password: false });
    const again = await post(`/${id}/reset-password`, {}, { 'idempotency-key': `reset-${id}` });
    expect(again.json).toEqual(json);
    expect((await accept(json.invitation.token, 'twelve golden umbrellas')).status).toBe(200);
    await platform.login(email, 'twelve golden umbrellas');
    expect((await historyOf(id)).map(({ changes }) => Object.keys(changes)).slice(0, 2)).toEqual([
      ['password'],
      ['password'],
    ]);
  });
});

describe('the last active superuser (W7)', () => {
  const rita = (): number => Number(ids['accounts']?.['rita@example.org']);

  it('can be neither deactivated, demoted nor deleted', async () => {
    for (const body of [{ active: false }, { superuser: false }, { active: false, superuser: false }])
      expect(refused(await update(rita(), body))).toEqual([409, 'last_superuser']);
    const deleted = await platform.call('DELETE', `${accounts}/${rita()}`, { token: root });
    expect(refused(deleted)).toEqual([409, 'last_superuser']);
    expect((await update(rita(), { superuser: true, global_editor: true })).status).toBe(200);
    expect((await get(`/${rita()}`)).json.account).toMatchObject({ active: true, superuser: true });
  });

  it('remains when all superusers give up their rights concurrently', async () => {
    for (let round = 0; round < 4; round++) {
      const other = await createActive({ superuser: true });
      const token = await platform.login(other.email, strong);
      const answers = await Promise.all([
        update(rita(), { superuser: false }),
        update(other.id, round % 2 === 0 ? { active: false } : { superuser: false }, { token }),
      ]);
      expect(sortedStatuses(answers)).toEqual([200, 409]);
      await platform.sql(`update directory.accounts set superuser = false where id <> $1`, [rita()]);
      // Over NATS: no superuser may remain.
      await platform.apply({
        accounts: [{ email: 'rita@example.org', superuser: true, active: true, global_editor: true }],
      });
    }
  });
});
