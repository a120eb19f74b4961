/** Export and erasure of people over HTTP, across all services (rules/people#export-and-erasure; W1, W20). */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForLockWait, watchJobs } from '#libs/product/testing';
import { exportParts } from '#services/directory';
import { holdLocks } from '../hold-locks.ts';
import { type Applied, eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

const people = ['zora', 'ben', 'cleo', 'dora', 'eda', 'root'];
const guide = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'privacy.md');

let platform: TestPlatform;
let ids: Applied['ids'];
let root: string;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { processes: ['directory', 'events'] });
  ({ ids } = await platform.apply({
    classes: [{ slug: 'event', conversation_event: true, journeys: ['joining'] }],
    journeys: [
      { slug: 'open-circle', name: 'Open circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] },
      { slug: 'joining', name: 'Joining', steps: [{ slug: 'asked', title: 'Asked' }] },
    ],
    people: people.map((key) => ({ key, name: `${key} Quillfeather`, contact: { email: `${key}@example.org` } })),
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['open-circle'] }],
    accounts: people.map((person) => ({
      email: `${person}.login@example.org`,
      person,
      password: `secret-of-${person}`,
      superuser: person === 'root',
    })),
    memberships: people.map((person) => ({ person, holon: 'spring', journey: 'joining' })),
  }));
  await platform.apply({
    conversations: people.slice(0, -1).map((person) => ({
      key: person,
      journey: 'open-circle',
      step: 'held',
      event: 'spring',
      start: '2026-05-01T10:00:00Z',
      participants: [person, 'root'],
      transcript: [{ start_ms: 0, end_ms: 900, person, text: `${person} told a secret.` }],
    })),
  });
  root = await login('root');
});
afterAll(() => platform.stop());

const login = (person: string): Promise<string> => platform.login(`${person}.login@example.org`, `secret-of-${person}`);
const idOf = (key: string): number => ids['people']?.[key] ?? 0;
const nameOf = (key: string): string => `${key} Quillfeather`;
const path = (key: string, operation: string): string => `/api/v1/people/${idOf(key)}/${operation}`;
const erase = (key: string, { token = root, confirm = nameOf(key), key: once = '', more = {} } = {}) =>
  platform.call('POST', path(key, 'erase'), {
    token,
    json: { confirm, ...more },
    headers: once === '' ? {} : { 'idempotency-key': once },
  });
const erasure = async (key: string) => (await platform.call('GET', path(key, 'erasure'), { token: root })).json.erasure;
const untilDone = (key: string) =>
  eventually(async () => {
    expect((await erasure(key)).state).toBe('done');
  });

describe('export over HTTP', () => {
  it('returns the parts of the archive of the CLI to superusers and the person', async () => {
    const own = await platform.call('GET', path('zora', 'export'), { token: await login('zora') });
    expect(own.status).toBe(200);
    expect(Object.keys(own.json)).toEqual([...exportParts]);
    expect(own.json).toMatchObject({
      person: [{ id: idOf('zora'), name: nameOf('zora') }],
      accounts: [{ email: 'zora.login@example.org' }],
      memberships: [{ holon: { slug: 'spring' } }],
      conversations: [{ is_participant: true }],
      transcript: [{ text: 'zora told a secret.' }],
    });
    const other = await platform.call('GET', path('zora', 'export'), { token: root });
    expect(other.json.transcript).toEqual(own.json.transcript);
    expect(own.text).not.toMatch(/argon2|secret_sha256|whsec_/);
  });

  it('returns 304 for the tag of the export, also to another caller (rules/http#etag)', async () => {
    const read = (token: string, headers = {}) => platform.call('GET', path('cleo', 'export'), { token, headers });
    const token = await login('cleo');
    const tag = (await read(root)).headers.get('etag') ?? '';
    const again = await read(token, { 'if-none-match': tag });
    expect([again.status, again.headers.get('etag'), again.text]).toEqual([304, tag, '']);
  });

  it('is denied to others, and unknown people are not found', async () => {
    const token = await login('ben');
    expect((await platform.call('GET', path('zora', 'export'), { token })).status).toBe(403);
    expect((await platform.call('GET', '/api/v1/people/999999/export', { token })).status).toBe(404);
  });
});

describe('erasure over HTTP', () => {
  it('requires a superuser, the exact name, and another superuser', async () => {
    const token = await login('ben');
    expect((await erase('zora', { token })).status).toBe(403);
    expect((await platform.call('GET', path('zora', 'erasure'), { token })).status).toBe(403);
    expect((await platform.call('POST', '/api/v1/people/999999/erase', { token, json: { confirm: 'x' } })).status).toBe(
      404,
    );
    expect((await platform.call('GET', path('zora', 'erasure'), { token: root })).status).toBe(404);
    for (const confirm of ['', 'zora', 'Zora Quillfeather', 'zora Quillfeather '])
      expect((await erase('zora', { confirm })).json.code).toBe('validation_error');
    for (const more of [{}, { dry_run: true }])
      expect(await erase('root', { more })).toMatchObject({ status: 409, json: { code: 'last_superuser' } });
    const chats = '?visitor_ids=heron&telegram_user_ids=7';
    expect((await platform.call('GET', path('ben', `export${chats}`), { token })).json.code).toBe('permission_denied');
    expect((await platform.call('GET', path('ben', `export${chats}`), { token: root })).status).toBe(200);
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token: root })).status).toBe(200);
  });

  it('removes the person from all services, and repeats the same reply under its key', async () => {
    const zora = await login('zora');
    const first = await erase('zora', { key: 'once' });
    expect(first).toMatchObject({ status: 202, json: { erasure: { id: expect.any(Number), state: 'running' } } });
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token: zora })).status).toBe(401);
    await untilDone('zora');
    expect(await erasure('zora')).toEqual({
      ...first.json.erasure,
      state: 'done',
      services: ['transcripts', 'conversations', 'media', 'agents', 'events', 'directory'].map((service) => ({
        service,
        state: 'done',
        error: null,
        counts: expect.any(Object),
      })),
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect((await platform.call('GET', path('zora', ''), { token: root })).status).toBe(404);
    for (const text of [nameOf('zora'), 'zora@example.org', 'zora.login@example.org', 'zora told'])
      expect([text, await platform.findInDatabase(text)]).toEqual([text, []]);
    const again = await erase('zora', { key: 'once' });
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
    expect((await erase('zora')).status).toBe(404);
    expect((await platform.cli('audit', 'verify')).code).toBe(0);
  });

  it('has an audit entry of the caller in each service that removed data', async () => {
    const rows = await platform.sql<{ service: string; actor_kind: string; account_id: number | null }>(
      `select 'directory' as service, actor_kind, account_id from directory.audit_log where action = 'person.erase'
       union all select 'transcripts', actor_kind, account_id from transcripts.audit_log where action = 'person.erase'
       union all select 'conversations', actor_kind, account_id from conversations.audit_log where action = 'person.erase'`,
    );
    expect(new Set(rows.map(({ service }) => service))).toEqual(new Set(['directory', 'transcripts', 'conversations']));
    const account = ids['accounts']?.['root.login@example.org'];
    for (const row of rows) expect(row).toMatchObject({ actor_kind: 'account', account_id: account });
  });

  it('reports a service that is away, and finishes when it is back', async () => {
    await platform.runtime.processes.get('events')?.stop();
    expect((await erase('ben')).status).toBe(202);
    await eventually(async () => {
      const { state, services } = await erasure('ben');
      const of = (name: string) => services.find(({ service }: { service: string }) => service === name);
      expect([state, of('events').state, of('transcripts').state]).toEqual(['running', 'failed', 'done']);
      expect(of('events').error).toEqual(expect.any(String));
    });
    await platform.runtime.restart('events');
    expect((await erase('ben')).status).toBe(202);
    await untilDone('ben');
    expect(await platform.findInDatabase(nameOf('ben'))).toEqual([]);
  });

  it('continues when the directory is killed during the erasure', async () => {
    const rows = 'select 1 from conversations.all_conversations where participant_ids @> array[$1::integer] for update';
    const letGo = await holdLocks(platform, rows, [idOf('cleo')]);
    expect((await erase('cleo')).status).toBe(202);
    await waitForLockWait(platform.sql, 'conversations');
    const killed = platform.runtime.processes.get('directory');
    killed?.kill('SIGKILL');
    expect(await killed?.ended).toBe('was ended by SIGKILL');
    await letGo();
    await platform.runtime.restart('directory');
    // Without waiting for the end of the killed worker's lease.
    await watchJobs(platform, 'directory.erase-person').expireLeases();
    await untilDone('cleo');
    expect(await platform.findInDatabase(nameOf('cleo'))).toEqual([]);
  });

  it('starts one erasure for concurrent requests', async () => {
    const replies = await Promise.all([1, 2, 3].map(() => erase('dora')));
    const started = replies.filter(({ status }) => status === 202);
    expect(started.length).toBeGreaterThan(0);
    expect(new Set(started.map(({ json }) => json.erasure.id)).size).toBe(1);
    await untilDone('dora');
    expect(
      await platform.sql('select 1 from directory.person_erasures where person_id = $1', [idOf('dora')]),
    ).toHaveLength(1);
  });
});

describe('docs/guides/privacy.md', () => {
  it('has commands that export, correct and erase a person', async () => {
    const [, block = ''] = /```sh\n(curl[^`]*)```/.exec(readFileSync(guide, 'utf8')) ?? [];
    const env = {
      ...process.env,
      BASE: platform.baseUrl,
      TOKEN: root,
      PERSON: String(idOf('eda')),
      NAME: nameOf('eda'),
    };
    const replies = [];
    for (const command of block.trim().split('\n')) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
      replies.push(JSON.parse(stdout));
    }
    expect(replies).toMatchObject([
      { person: [{ id: idOf('eda') }] },
      { person: { id: idOf('eda') }, changes: {} },
      { counts: { directory: { people: 1 } } },
      { erasure: { state: 'running' } },
      { erasure: { services: expect.any(Array) } },
    ]);
    await untilDone('eda');
  });
});
