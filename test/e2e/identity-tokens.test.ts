/** Identity provider tokens for apps and operators: HTTP and the admin CLI (rules/access#identity-provider). */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deviceClientId, type IdentityProvider, runCli, startIdentityProvider } from '#libs/product/testing';
import { checkIssuer } from '../../cli/doctor/issuer.ts';
import {
  applyDemo,
  createConversation,
  type Demo,
  eventually,
  startTestPlatform,
  type TestPlatform,
} from './test-platform.ts';

let provider: IdentityProvider;
let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  provider = await startIdentityProvider();
  const settings = {
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: provider.audience,
    OIDC_LINK_BY_EMAIL: 'true',
    OUTBOUND_ALLOWED_HOSTS: provider.host,
  };
  platform = await startTestPlatform(import.meta.url, settings, {
    services: ['api-gateway', 'agents', 'conversations', 'directory', 'events'],
    replicas: 2,
  });
  demo = await applyDemo(platform, 'oidc');
  await platform.apply({
    people: ['cleo', 'dora', 'emil'].map((key) => ({ key, name: key })),
    accounts: ['cleo', 'dora', 'emil'].map((person) => ({ email: `${person}@example.org`, person })),
  });
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
});

const whoami = (token: string) => platform.call('GET', '/api/v1/auth/whoami', { token });
const statusOf = async (token: string): Promise<number> => (await whoami(token)).status;
/** Returns the statuses of several calls, so that the load balancer reaches both gateways. */
const statusesOf = async (token: string): Promise<number[]> => [
  ...new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(() => statusOf(token)))),
];

describe('login with the device flow of the identity provider (rules/cli#profiles)', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'device-login-'));
    await platform.apply({
      people: [{ key: 'fay', name: 'Fay' }],
      accounts: [{ email: 'fay@example.org', person: 'fay' }],
    });
    await provider.describe('fay', { email: 'fay@example.org', email_verified: true });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const variables = () => ({
    NATS_URL: '',
    COHERENCE_DATA_DIR: folder,
    COHERENCE_CONFIG_DIR: folder,
    OIDC_ISSUER: provider.issuer,
  });
  const login = (clientId: string) => ['login', '--url', platform.baseUrl, '--oidc', '--client-id', clientId];
  const whoamiOfCli = async () =>
    JSON.parse((await runCli(['whoami', '--json'], variables())).stdout) as Record<string, unknown>;

  it('prints an address, stores a profile after the sign-in there, and renews its token', async () => {
    const child = spawn(process.execPath, ['cli/main.ts', ...login(deviceClientId), '--profile', 'work'], {
      env: { ...process.env, NODE_OPTIONS: '', ...variables() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stdout = text(child.stdout);
    let stderr = '';
    for await (const chunk of child.stderr) {
      stderr += String(chunk);
      const [, url] = /Open (\S+) and confirm the code \S+\.\n/.exec(stderr) ?? [];
      if (url !== undefined && stderr.endsWith('\n')) await provider.signIn(url, 'fay');
    }
    expect([stderr, await stdout]).toEqual([
      expect.stringMatching(/^Open \S+ and confirm the code \S+\.\n$/),
      expect.stringContaining(`Logged in to ${platform.baseUrl} as Fay.`),
    ]);
    const person = expect.objectContaining({ name: 'Fay' });
    expect(await whoamiOfCli()).toMatchObject({ profile: 'work', person });

    const file = join(folder, 'profiles.json');
    const stored = JSON.parse(await readFile(file, 'utf8')) as { profiles: { work: { token: string } } };
    const { token } = stored.profiles.work;
    stored.profiles.work.token = await provider.sign({ sub: 'fay', exp: 1 });
    await writeFile(file, JSON.stringify(stored));
    expect(await whoamiOfCli()).toMatchObject({ profile: 'work', person });
    const renewed = JSON.parse(await readFile(file, 'utf8')) as typeof stored;
    expect([token, stored.profiles.work.token]).not.toContain(renewed.profiles.work.token);
  });

  it('stores nothing when the provider rejects the client', async () => {
    expect(await runCli([...login('app'), '--profile', 'none'], variables())).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Sign-in at the identity provider failed: /),
    });
    expect((await runCli(['whoami', '--profile', 'none'], variables())).code).toBe(1);
  });
});

describe('tokens of the identity provider (S1, S2)', () => {
  it('accepts an identity token like a per-user token after the admin CLI has linked its subject', async () => {
    const token = await provider.sign({ sub: 'ada-at-the-provider' });
    expect(await statusesOf(token)).toEqual([401]);
    const link = ['accounts', 'link', 'ada-oidc@example.org', '--subject', 'ada-at-the-provider'];
    expect(await platform.cli(...link)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Linked: ada-oidc@example.org'),
    });
    expect((await whoami(token)).json).toEqual({
      authenticated: true,
      person: expect.objectContaining({ id: demo.ada }),
      key: null,
    });
    const conversation = await createConversation(platform, demo);
    const client = platform.client.withToken(token);
    expect((await client.getConversation({ path: { conversation_id: conversation.id } })).body.id).toBe(
      conversation.id,
    );
    expect((await client.listKeys({})).body).toEqual({ items: [], count: 0 });
    expect((await platform.call('GET', '/api/agents/none/', { token })).status).toBe(401);
    expect(await platform.ask('accounts', 'identities', 'ada-oidc@example.org')).toEqual([
      { issuer: provider.issuer, subject: 'ada-at-the-provider', linked_by: 'operator', linked_at: expect.any(String) },
    ]);
  });

  it('links a subject at its first use to the account with the verified email, and writes an audit entry', async () => {
    await provider.describe('cleo', { email: 'Cleo@example.org', email_verified: true });
    const token = await provider.accessToken('cleo');
    expect((await whoami(token)).json).toMatchObject({ authenticated: true, person: { name: 'cleo' } });
    const [entry] = await platform.sql<{ changes: string; ip: string }>(
      `select l.changes, l.ip from directory.audit_log l join directory.accounts a on a.id = l.account_id
       where a.email = 'cleo@example.org' and l.action = 'account.link'`,
    );
    expect(JSON.parse(entry?.changes ?? '')).toEqual({ issuer: provider.issuer, linked_by: 'email' });
    expect(entry?.ip).toBe('127.0.0.1');
    await provider.describe('dora', { email: 'dora@example.org', email_verified: false });
    expect(await statusOf(await provider.accessToken('dora'))).toBe(401);
  });

  it('denies access to an account that is linked to another subject (S5)', async () => {
    await provider.describe('cleo-2', { email: 'cleo@example.org', email_verified: true });
    expect(await statusesOf(await provider.accessToken('cleo-2'))).toEqual([401]);
  });

  /** The maximum delay is tested in services/api-gateway/credentials/cache.test.ts. */
  it('rejects a token on every replica after its account was deactivated or its subject unlinked (S2)', async () => {
    const ends = [
      ['accounts', 'unlink', 'emil@example.org', '--subject', 'emil'],
      ['accounts', 'deactivate', 'emil@example.org'],
    ];
    const token = await provider.sign({ sub: 'emil' });
    await platform.ask('accounts', 'link', 'emil@example.org', '--subject', 'emil');
    for (const end of ends) {
      expect(await statusesOf(token)).toEqual([200]);
      await platform.ask(...end);
      await eventually(async () => expect(await statusesOf(token)).toEqual([401]));
      if (end[1] === 'unlink') await platform.ask('accounts', 'link', 'emil@example.org', '--subject', 'emil');
    }
  });

  it('ends a long-poll for events when the identity token expires (D89)', async () => {
    await platform.ask('accounts', 'link', 'ada-oidc@example.org', '--subject', 'ada-who-waits');
    const { json } = await platform.call('GET', '/api/v1/events?after=latest', {
      token: await provider.sign({ sub: 'ada-who-waits' }),
    });
    // Expires three seconds from now, after the tolerance of 30 seconds.
    const token = await provider.sign({ sub: 'ada-who-waits', exp: Math.floor(Date.now() / 1000) - 27 });
    const waited = await platform.call('GET', `/api/v1/events?after=${json.next}&wait=30&types=question.changed`, {
      token,
    });
    expect([waited.status, waited.json.code]).toEqual([401, 'unauthenticated']);
  });

  it('rejects an identity token for logout, passwords and sessions (S5)', async () => {
    const token = await provider.sign({ sub: 'ada-at-the-provider' });
    const asked = await Promise.all([
      platform.call('POST', '/api/v1/auth/logout', { token }),
      platform.call('POST', '/api/v1/auth/password', {
        token,
        json: { current: 'secret-of-ada-oidc', new: 'seven green parrots' },
      }),
      platform.call('GET', '/api/v1/auth/sessions', { token }),
    ]);
    for (const { status, json } of asked) expect([status, json.code]).toEqual([403, 'permission_denied']);
    expect(await statusOf(token)).toBe(200);
  });

  it.each([
    ['issuer', { iss: 'https://elsewhere.example.org' }, {}],
    ['audience', { aud: 'https://other.example.org' }, {}],
    ['expiry', { exp: Math.floor(Date.now() / 1000) - 40 }, {}],
    ['beginning', { nbf: Math.floor(Date.now() / 1000) + 3_600 }, {}],
    ['type', {}, { typ: 'logout+jwt' }],
    ['key', {}, { kid: 'unknown' }],
  ])('rejects an identity token for its %s', async (_what, claims, header) => {
    const { status, json, headers } = await whoami(
      await provider.sign({ sub: 'ada-at-the-provider', ...claims }, header),
    );
    expect([status, json.code, headers.get('www-authenticate')]).toEqual([401, 'unauthenticated', 'Bearer']);
  });

  it('rejects an unsigned identity token, and writes no identity token to logs or tables', async () => {
    const token = await provider.sign({ sub: 'ada-at-the-provider' });
    const [, payload = '', signature = ''] = token.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    expect(await statusOf(unsigned)).toBe(401);
    expect(await statusOf(token)).toBe(200);
    await eventually(async () => expect(await platform.readLogs()).toContain('/api/v1/auth/whoami'));
    expect(await platform.readLogs()).not.toContain(signature);
    expect(await platform.findInDatabase(signature)).toEqual([]);
  });
});

describe('identity provider row in `doctor` of the admin CLI (rules/cli#admin-cli, S4, S5)', () => {
  it('reports the number of keys, or why the provider does not respond, or that a URL without TLS is not allowed', async () => {
    const row = async (): Promise<unknown> => {
      const told = platform.ask('doctor').catch(({ answer }: { answer: unknown }) => answer);
      return ((await told) as { name: string }[]).find(({ name }) => name === 'identity provider');
    };
    const common = { name: 'identity provider', needed: true };
    expect(await row()).toEqual({ ...common, ok: true, detail: `${provider.issuer} answers, 5 keys` });
    await provider.disconnect();
    expect(await row()).toEqual({
      ...common,
      ok: false,
      detail: expect.stringContaining('no connection (ECONNREFUSED)'),
    });
    await provider.return();
    await expect(checkIssuer(provider.issuer, '')).rejects.toThrow('OIDC_ISSUER must start with https://');
  });
});

describe('unavailable identity provider (S4)', () => {
  it('accepts tokens signed by cached keys, and returns 503 for tokens with unknown keys', async () => {
    const known = await provider.sign({ sub: 'ada-at-the-provider' });
    expect(await statusesOf(known)).toEqual([200]);
    await provider.disconnect();
    await provider.rotate();
    const unknown = await provider.sign({ sub: 'ada-at-the-provider' });
    const fresh = await statusesOf(known);
    expect(fresh).toEqual([200]);
    // A gateway requests unknown keys at most every half minute, and each gateway has just done so. A restart clears
    // its cached keys.
    const restart = async (name: string): Promise<void> => {
      await platform.runtime.processes.get(name)?.stop();
      await platform.runtime.restart(name);
    };
    await Promise.all(['api-gateway', 'api-gateway#2'].map(restart));
    const answer = await whoami(unknown);
    expect([answer.status, answer.json]).toEqual([
      503,
      { code: 'server_error', message: 'Credentials cannot be checked now', retryable: true },
    ]);
    await provider.return();
    await eventually(async () => expect(await statusesOf(unknown)).toEqual([200]));
  });
});

describe('gateway with an http issuer that is not allowed (S5)', () => {
  it('rejects the start and reports the reason', async () => {
    await platform.runtime.processes.get('api-gateway#2')?.stop();
    await expect(
      platform.runtime.restart('api-gateway#2', { OUTBOUND_ALLOWED_HOSTS: 'elsewhere.example.org' }),
    ).rejects.toThrow('OIDC_ISSUER must start with https://, unless OUTBOUND_ALLOWED_HOSTS names its host');
  });
});
