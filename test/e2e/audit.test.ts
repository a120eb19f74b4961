/** The audit log across all services: read access, the admin CLI, and attacks on the log (A1–A4). */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicAuditEntry } from '#libs/infrastructure/contract';
import { startTestPlatform, type Applied, type TestPlatform } from './test-platform.ts';

const email = 'ada@example.org';
const password = 'the right password';
let platform: TestPlatform;
let ids: Applied['ids'];
let folder: string;
let tokens: Record<'superuser' | 'viewer' | 'operator' | 'user', string>;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  folder = await mkdtemp(join(tmpdir(), 'audit-'));
  const people = ['ada', 'root', 'viewer', 'operator'].map((key) => ({ key, name: key }));
  const account = (name: string, rights: object = {}) => ({
    email: `${name}@example.org`,
    person: name,
    password,
    ...rights,
  });
  ({ ids } = await platform.apply({
    people,
    accounts: [
      account('ada', { groups: ['coherence_users'], global_editor: true }),
      account('root', { superuser: true }),
      account('viewer', { groups: ['ops_viewers'] }),
      account('operator', { groups: ['ops_operators'] }),
    ],
    journeys: [{ slug: 'circle', name: 'Circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] }],
  }));
  tokens = {
    user: await platform.login(email, password),
    superuser: await platform.login('root@example.org', password),
    viewer: await platform.login('viewer@example.org', password),
    operator: await platform.login('operator@example.org', password),
  };
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Page {
  items: PublicAuditEntry[];
  next: string | null;
}
const ask = (query: Record<string, string> = {}, token: string | null = tokens.viewer) =>
  platform.call('GET', `/api/ops/audit?${new URLSearchParams(query).toString()}`, { token });
const list = async (query: Record<string, string> = {}): Promise<Page> => {
  const answer = await ask(query);
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  return answer.json;
};
const refuseLogin = (who: string): Promise<unknown> =>
  platform.call('POST', '/api/v1/auth/login', {
    token: null,
    headers: { 'x-svc-api-key': platform.loginSecret },
    json: { email: who, password: 'wrong' },
  });

describe('GET /api/ops/audit (A3, A4; rules/audit#reading-it)', () => {
  it('lists client and operator actions of every service, newest first, with address and request', async () => {
    const id = '0f3f8f1e-made-by-the-client';
    await platform.call('POST', '/api/v1/auth/logout', {
      token: await platform.login(email, password),
      headers: { 'x-request-id': id },
    });
    const [conversation] = await platform.sql<{ id: number }>(
      `insert into conversations.all_conversations (journey_id, step_id) values ($1, $2) returning id`,
      [ids['journeys']?.['circle'], ids['steps']?.['circle/held']],
    );
    await platform.ask('conversations', 'delete', String(conversation?.id));
    const { items } = await list({ limit: '3' });
    expect(items).toMatchObject([
      {
        id: expect.stringMatching(/^conversations:\d+$/),
        actor: { kind: 'account', key_id: null },
        action: 'conversation.delete',
        target: { type: 'conversation', id: String(conversation?.id) },
        ip: expect.stringMatching(/^(127\.0\.0\.1|::)/),
        outcome: 'ok',
      },
      {
        id: expect.stringMatching(/^directory:\d+$/),
        actor: { kind: 'account', email, key_id: null },
        action: 'logout',
        request_id: id,
        ip: expect.stringMatching(/^(127\.0\.0\.1|::)/),
      },
      { action: 'login', actor: { email } },
    ]);
  });

  it('filters audit entries by actor email or id, action, target and time', async () => {
    await refuseLogin(email);
    await refuseLogin('nobody@example.org');
    const { items } = await list({ actor: email, action: 'login' });
    expect(items[0]).toMatchObject({ outcome: 'refused', actor: { email }, changes: { reason: 'credentials' } });
    expect(items.every((item) => item.actor.email === email && item.action === 'login')).toBe(true);
    const account = String(items[0]?.actor.account_id);
    expect((await list({ actor: account, action: 'login' })).items).toEqual(items);
    expect((await list({ target: `account:${account}` })).items.every((item) => item.target?.id === account)).toBe(
      true,
    );
    expect((await list({ actor: 'nobody@example.org' })).items).toEqual([]);
    expect((await list({ action: 'login' })).items[0]).toMatchObject({
      actor: { account_id: null, email: null },
      outcome: 'refused',
      target: null,
    });
    const at = items[0]?.at ?? '';
    expect((await list({ actor: email, action: 'login', from: at })).items).toHaveLength(1);
    expect((await list({ actor: email, action: 'login', to: at })).items).toEqual(items.slice(1));
  });

  it('pages through the audit entries of all services without duplicates or gaps', async () => {
    const all = (await list({ limit: '200' })).items;
    expect(all.length).toBeGreaterThan(6);
    const told: PublicAuditEntry[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list({ limit: '2', ...(cursor === '' ? {} : { cursor }) });
      told.push(...page.items);
      cursor = page.next;
    }
    expect(told).toEqual(all);
  });

  it('allows only superusers and the two operator groups to read audit entries, with errors in the envelope of /api/v1', async () => {
    for (const token of [tokens.superuser, tokens.viewer, tokens.operator])
      expect((await ask({}, token)).status).toBe(200);
    const denied = await ask({}, tokens.user);
    expect([denied.status, denied.json]).toEqual([
      403,
      { code: 'permission_denied', message: expect.any(String), retryable: false },
    ]);
    for (const token of [null, platform.sharedToken, `${tokens.viewer}x`, platform.loginSecret]) {
      const answer = await ask({}, token);
      expect([answer.status, answer.json]).toEqual([
        401,
        { code: 'unauthenticated', message: expect.any(String), retryable: false },
      ]);
    }
  });

  it('denies audit access within a second after an account was removed from its group', async () => {
    await platform.ask('accounts', 'grant', 'operator@example.org', '--remove-group', 'ops_operators');
    const deadline = Date.now() + 1_000;
    let status = 200;
    while (status === 200 && Date.now() < deadline) ({ status } = await ask({}, tokens.operator));
    expect(status).toBe(403);
  });

  it.each([
    [{ limit: '0' }, 422],
    [{ limit: '201' }, 422],
    [{ from: 'yesterday' }, 422],
    [{ target: 'account' }, 422],
    [{ actor: '' }, 422],
    [{ action: 'x'.repeat(101) }, 422],
    [{ cursor: 'nonsense' }, 400],
    [{ cursor: Buffer.from('["jobs","2026-01-01T00:00:00Z","media",1]').toString('base64url') }, 400],
  ])('rejects the audit query %j with %i', async (query, status) => {
    const answer = await ask(query);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json).toMatchObject({ code: 'bad_cursor', retryable: false });
  });
});

describe('audit of the admin CLI (A2, A3)', () => {
  it('lists the same audit entries as the API, with emails', async () => {
    expect(await platform.ask('audit', 'list', '--actor', email, '--action', 'login')).toEqual(
      (await list({ actor: email, action: 'login' })).items,
    );
    expect((await platform.cli('audit', 'list', '--actor', 'nobody@example.org')).stderr).toContain(
      'No account has the email',
    );
  });

  it('escapes text of clients, so that it cannot control the terminal or add lines', async () => {
    await platform.call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': platform.loginSecret, 'x-request-id': 'a'.repeat(128) },
      json: { email: `evil\u001b[2J\n{"action":"login"}@example.org`, password: 'wrong' },
    });
    const { stdout } = await platform.cli('audit', 'list', '--limit', '3');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('evil');
  });

  it('verifies and exports the audit chains, and verifies the exported file without a server', async () => {
    const verified = await platform.cli('audit', 'verify', '--json');
    expect([verified.code, verified.stderr]).toEqual([0, '']);
    const reports = JSON.parse(verified.stdout) as {
      service: string;
      entries: number;
      broken: null;
      head: { id: number; hash: string };
    }[];
    expect(reports.map(({ service }) => service).toSorted()).toEqual([
      'agents',
      'conversations',
      'directory',
      'events',
      'media',
      'transcripts',
    ]);
    const file = join(folder, 'audit.jsonl');
    expect(await platform.cli('audit', 'export', '--out', file)).toMatchObject({ code: 0 });
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(reports.reduce((sum, { entries }) => sum + entries, 0));
    expect(await platform.cli('audit', 'verify', file)).toMatchObject({ code: 0 });
    const forged = lines
      .map((line) => (line.includes('"conversation.delete"') ? line.replace('"account"', '"shared"') : line))
      .join('\n');
    await writeFile(file, forged);
    const result = await platform.cli('audit', 'verify', file);
    expect([result.code, result.stderr]).toEqual([1, expect.stringMatching(/conversations: entry \d+ was changed/)]);
  });

  it('reports changes that the table owner made to a chain, and detects a rewritten chain with a saved chain head', async () => {
    const verify = async (...args: string[]) => {
      const { code, stderr } = await platform.cli('audit', 'verify', '--service', 'directory', ...args);
      return [code, stderr.trim()];
    };
    const [{ last_id: last, hash } = { last_id: 0, hash: '' }] = await platform.sql<{ last_id: number; hash: string }>(
      `select last_id, encode(last_hash, 'hex') as hash from directory.audit_head`,
    );
    expect(await verify('--head', `directory:${last}:${hash}`)).toEqual([0, '']);
    expect(await verify('--head', `directory:${last}:${'0'.repeat(64)}`)).toEqual([
      1,
      expect.stringContaining(`entry ${last} does not have the recorded hash`),
    ]);

    const [row] = await platform.sql(`select * from directory.audit_log where id = 3`);
    await platform.sql(`update directory.audit_log set action = 'nothing' where id = 3`);
    expect(await verify()).toEqual([
      1,
      expect.stringContaining('directory: entry 3 was changed after it was written.'),
    ]);
    await platform.sql(`update directory.audit_log set action = $1 where id = 3`, [row?.['action']]);
    expect(await verify()).toEqual([0, '']);

    await platform.sql(`create table public.kept as select * from directory.audit_log where id >= 3`);
    await platform.sql(`delete from directory.audit_log where id = 4`);
    expect(await verify()).toEqual([1, expect.stringContaining('entry 4 is missing')]);
    await platform.sql(`delete from directory.audit_log where id >= 3`);
    expect(await verify()).toEqual([1, expect.stringContaining(`entry 3 is missing, with all entries up to ${last}`)]);
    await platform.sql(`insert into directory.audit_log select * from public.kept`);
    expect(await verify()).toEqual([0, '']);
  });
});
