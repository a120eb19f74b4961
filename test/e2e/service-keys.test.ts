/** Service keys for programs and operators: HTTP and the admin CLI (rules/access#service-keys). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  applyDemo,
  createConversation,
  type Demo,
  eventually,
  startTestPlatform,
  type TestPlatform,
} from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let ada: string;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'agents', 'conversations', 'directory'] },
  );
  demo = await applyDemo(platform, 'keys');
  ada = await platform.login('ada-keys@example.org', 'secret-of-ada-keys');
});
afterAll(() => platform.stop());

const make = async (scopes: string[]): Promise<{ key: { id: string }; token: string }> =>
  (await platform.client.createKey({ body: { name: 'A program', scopes } }, { token: ada })).body;
const statusOf = async (token: string): Promise<number> =>
  (await platform.call('GET', '/api/v1/auth/whoami', { token })).status;
const cli = async (...args: string[]): Promise<any> => {
  const { code, stdout } = await platform.cli(...args, '--json');
  return { code, ...JSON.parse(stdout) };
};

describe('service key (K1, K2)', () => {
  it('authorizes a service key as its account within its scopes, on /api and /api/v1', async () => {
    const conversation = await createConversation(platform, demo);
    const { key, token } = await make(['conversations:read', 'agents:read']);
    expect(token).toMatch(new RegExp(`^svc_key_${key.id}_[A-Za-z0-9_-]{43}$`));
    const client = platform.client.withToken(token);
    expect((await client.whoami()).body).toEqual({
      authenticated: true,
      person: expect.objectContaining({ id: demo.ada }),
      key: { id: key.id, name: 'A program', scopes: ['conversations:read', 'agents:read'] },
    });
    expect((await client.getConversation({ path: { conversation_id: conversation.id } })).body.id).toBe(
      conversation.id,
    );
    expect((await platform.call('GET', '/api/agents/none/', { token })).status).toBe(404);
    await expect(client.listPeople({ query: { q: 'a' } })).rejects.toMatchObject({
      status: 403,
      body: {
        code: 'insufficient_scope',
        required_scope: 'directory:read',
        scopes: ['conversations:read', 'agents:read'],
      },
    });
    await expect(client.logout({})).rejects.toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  it('returns a service key only once, and writes only its id to tables and logs', async () => {
    const { key, token } = await make(['*']);
    await statusOf(token);
    expect(await platform.findInDatabase(token.slice(-43))).toEqual([]);
    await eventually(async () => expect(await platform.readLogs()).toContain(`"keyId":"${key.id}"`));
    expect(await platform.readLogs()).not.toContain(token.slice(-43));
  });

  /** The maximum delay is tested in services/api-gateway/credentials/cache.test.ts. */
  it('rejects a key after its revocation, its rotation without an overlap, or the deactivation of its account (K6)', async () => {
    const ben = await platform.login('ben-keys@example.org', 'secret-of-ben-keys');
    const ends = [
      async (id: string) => platform.client.revokeKey({ path: { key_id: id } }, { token: ben }),
      async (id: string) =>
        platform.client.rotateKey({ path: { key_id: id }, body: { overlap_seconds: 0 } }, { token: ben }),
      async () => platform.ask('accounts', 'deactivate', 'ben-keys@example.org'),
    ];
    for (const end of ends) {
      const { key, token } = (
        await platform.client.createKey({ body: { name: 'Of Ben', scopes: ['*'] } }, { token: ben })
      ).body;
      expect(await statusOf(token)).toBe(200);
      await end(key.id);
      await eventually(async () => expect(await statusOf(token)).toBe(401));
    }
  });

  it.each([
    [{ scopes: ['*'] }, 422],
    [{ name: 'x', scopes: [] }, 422],
    [{ name: 'x'.repeat(201), scopes: ['*'] }, 422],
    [{ name: 'x\u0000', scopes: ['*'] }, 422],
    [{ name: 'x', scopes: 'media:read' }, 422],
    [{ name: 'x', scopes: ['*'], expires_at: 'tomorrow' }, 422],
    [{ name: 'x', scopes: ['media:*'] }, 400],
    [{ name: 'x', scopes: ['*'], expires_at: '2020-01-01T00:00:00' }, 400],
  ])('rejects the new service key %j', async (json, status) => {
    expect((await platform.call('POST', '/api/v1/keys', { token: ada, json })).status).toBe(status);
  });

  it('rejects a new service key for a deactivated account (K10)', async () => {
    await platform.ask('accounts', 'deactivate', 'ben-keys@example.org');
    const [ben] = await platform.sql<{ id: number }>(
      "select id from directory.accounts where email = 'ben-keys@example.org'",
    );
    const root = await platform.login('root-keys@example.org', 'secret-of-root-keys');
    const json = { name: 'Late', scopes: ['*'], account_id: ben?.id };
    const answer = await platform.call('POST', '/api/v1/keys', { token: root, json });
    expect([answer.status, answer.json]).toEqual([
      409,
      { code: 'account_inactive', message: 'The account is deactivated.', retryable: false },
    ]);
  });

  it.each([-1, 604_801, 'a day'])('rejects the rotation overlap %j (K5)', async (overlap_seconds) => {
    const answer = await platform.call('POST', '/api/v1/keys/nothing/rotate', {
      token: ada,
      json: { overlap_seconds },
    });
    expect(answer.status).toBe(422);
  });
});

describe('keys create|list|rotate|revoke (K9)', () => {
  it('create a key for a program, print it once, rotate and revoke it', async () => {
    const account = await cli('accounts', 'create', 'bot@example.org', '--service', 'Bot');
    expect(account).toMatchObject({ code: 0, email: 'bot@example.org', person_id: expect.any(Number) });
    const made = await cli(
      'keys',
      'create',
      'bot@example.org',
      '--name',
      'Nightly',
      '--scope',
      'directory:read',
      '--scope',
      'media:read',
    );
    expect(made).toMatchObject({
      code: 0,
      key: {
        name: 'Nightly',
        scopes: ['directory:read', 'media:read'],
        created_by: { account_id: expect.any(Number), key_id: null },
      },
    });
    const person = await platform.call('GET', `/api/v1/people/${account.person_id}`, { token: made.token });
    expect([person.status, person.json]).toEqual([
      200,
      expect.objectContaining({ name: 'Bot', actor_kind: 'service' }),
    ]);

    const listed = await platform.cli('keys', 'list', 'bot@example.org', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: made.key.id, name: 'Nightly' }]);
    const table = await platform.cli('keys', 'list');
    expect(table.stdout).toMatch(/^ID +NAME +ACCOUNT +STATE +SCOPES +LAST USED +EXPIRES *\n/);
    expect(listed.stdout + table.stdout).not.toContain(made.token.slice(-43));

    const rotated = await cli('keys', 'rotate', made.key.id, '--overlap-seconds', '3600');
    expect([rotated.code, await statusOf(made.token), await statusOf(rotated.token)]).toEqual([0, 200, 200]);
    // The events service does not run here, so the endpoints created by the key are unknown.
    expect(await cli('keys', 'revoke', made.key.id, '--yes')).toMatchObject({
      code: 0,
      key: { revoked_at: expect.any(String) },
      webhook_endpoints: null,
    });
    expect((await platform.cli('keys', 'revoke', made.key.id, '--yes')).stdout).toContain(
      'the events service did not reply',
    );
    expect(await cli('keys', 'revoke', made.key.id, '--yes')).toMatchObject({ code: 0 });
  });

  it.each([
    [['keys', 'create', 'nobody@example.org', '--name', 'x', '--scope', '*'], 'account_not_found'],
    [['keys', 'create', 'ada-keys@example.org', '--name', 'x', '--scope', 'all'], 'bad_request'],
    [
      ['keys', 'create', 'ada-keys@example.org', '--name', 'x', '--scope', '*', '--expires-at', '2020-01-01'],
      'bad_request',
    ],
    [['keys', 'rotate', 'nothing'], 'not_found'],
    [['keys', 'revoke', 'nothing', '--yes'], 'not_found'],
  ])('%j reports its error like every other command', async (args, code) => {
    const { stdout, code: exitCode } = await platform.cli(...args, '--json');
    const { error } = JSON.parse(stdout);
    expect([exitCode, [error.code, error.reason]]).toEqual([1, expect.arrayContaining([code])]);
  });
});
