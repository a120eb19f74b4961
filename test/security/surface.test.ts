/**
 * Unexpected input: fields, paths, raw HTTP (OWASP API1, API3, API5, API8 and API9:2023). Read access over the whole
 * route table is tested in test/e2e/v1-access.drill.test.ts and test/e2e/auth-table.drill.test.ts.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, type Demo, type TestPlatform } from '../e2e/test-platform.ts';
import { startTarget } from './attacker.ts';

let platform: TestPlatform;
let demo: Demo;
let stranger: string;
let superuser: string;
beforeAll(async () => {
  platform = await startTarget(
    import.meta.url,
    {},
    { services: ['api-gateway', 'conversations', 'directory', 'media'] },
  );
  demo = await applyDemo(platform, 'surface');
  stranger = await platform.login('ben-surface@example.org', 'secret-of-ben-surface');
  superuser = await platform.login('root-surface@example.org', 'secret-of-root-surface');
});
afterAll(() => platform.stop());

/** Returns the rights of all accounts. */
const readRights = () =>
  platform.sql('select id, email, superuser, global_editor, is_active, person_id from directory.accounts order by id');

describe('fields that a caller may not set (OWASP API3:2023)', () => {
  const rights = {
    superuser: true,
    global_editor: true,
    groups: ['coherence_users'],
    is_active: true,
    account: { email: 'm@example.org' },
  };

  it('creates a person without account, rights or chosen id, even if the request contains them', async () => {
    const before = await readRights();
    const json = {
      ...rights,
      name: 'Mallory',
      id: 1,
      person_id: demo.ada,
      created_at: '2001-01-01T00:00:00Z',
      infos: { admin: true },
    };
    const answer = await platform.call('POST', '/api/v1/people', { token: superuser, json });
    expect(answer.status).toBe(201);
    expect(answer.json.person.id).toBeGreaterThan(demo.ben);
    expect(await readRights()).toEqual(before);
  });

  it('ignores id, class, owner and visibility in an update of a holon', async () => {
    const read = () => platform.sql('select * from directory.holons where id = $1', [demo.event]);
    const [before] = await read();
    const json = { ...rights, id: 1, class: 'other', class_id: 1, owner_id: 1, private: true };
    const answer = await platform.call('POST', `/api/v1/holons/${demo.event}/update`, { token: superuser, json });
    expect([answer.status, answer.json?.changes ?? {}]).toEqual([200, {}]);
    expect(await read()).toEqual([before]);
    const loop = { ...json, slug: 'taken', parent_id: demo.event };
    const refused = await platform.call('POST', `/api/v1/holons/${demo.event}/update`, {
      token: superuser,
      json: loop,
    });
    expect([refused.status, refused.json.code]).toEqual([400, 'validation_error']);
    expect(await read()).toEqual([before]);
  });

  it.each(['config.booking', 'config.pipeline', 'room', 'booking', 'updated_at', 'id', 'deleted_at', 'question_state'])(
    'ignores or rejects a change of %s of a conversation',
    async (path) => {
      const [field = '', inner] = path.split('.');
      const { id } = await createConversation(platform, demo);
      const read = () =>
        platform.sql('select to_jsonb(c) - $2 as row from conversations.conversations c where id = $1', [
          id,
          'updated_at',
        ]);
      const before = await read();
      const answer = await platform.call('PATCH', `/api/coherence/conversations/${id}`, {
        json: { [field]: inner === undefined ? { taken: true } : { [inner]: {} } },
      });
      expect([200, 400, 422]).toContain(answer.status);
      expect(await read()).toEqual(before);
    },
  );

  it('does not end a session of another account', async () => {
    const other = await platform.login('ada-surface@example.org', 'secret-of-ada-surface');
    const [, key = ''] = /^svc_agentic_([a-z0-9]{32})_/.exec(other) ?? [];
    const mine = await platform.login('ben-surface@example.org', 'secret-of-ben-surface');
    const json = { session_key: key, token: other, account_id: 1 };
    expect((await platform.call('POST', '/api/v1/auth/logout', { token: mine, json })).status).toBe(200);
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token: mine })).status).toBe(401);
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token: other })).status).toBe(200);
  });
});

describe('functions of other roles (OWASP API5:2023)', () => {
  it.each([
    ['POST', '/api/v1/people', { name: 'Mallory' }],
    ['POST', '/api/v1/holons/EVENT/update', { name: 'Taken' }],
    ['POST', '/api/v1/holons/EVENT/update', { slug: 'taken', parent_id: null }],
    [
      'POST',
      '/api/v1/holons/EVENT/memberships:bulk-add',
      { memberships: [{ person_id: 1, journey_slug: 'journey-surface' }] },
    ],
  ])('denies operations of other roles to an account without rights: %s %s', async (method, path, json) => {
    const rows = () =>
      platform.sql(`select (select count(*) from directory.people) people, (select max(updated_at) from directory.holons) holons,
      (select count(*) from directory.memberships) memberships`);
    const before = await rows();
    const answer = await platform.call(method, path.replace('EVENT', String(demo.event)), { token: stranger, json });
    expect([answer.status, answer.json.code]).toEqual([403, 'permission_denied']);
    expect(await rows()).toEqual(before);
  });

  it.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
    'does not replace the method of a request by the header %s',
    async (header) => {
      const { id } = await createConversation(platform, demo);
      const path = `/api/coherence/conversations/${id}`;
      const plain = await platform.call('GET', path);
      for (const method of ['DELETE', 'PATCH']) {
        const answer = await platform.call('GET', path, { headers: { [header]: method } });
        expect([answer.status, answer.text]).toEqual([200, plain.text]);
      }
    },
  );

  it.each([
    ['x-forwarded-for', '127.0.0.1'],
    ['x-original-url', '/api/v1/people'],
    ['x-rewrite-url', '/api/v1/people'],
    ['actor', '{"kind":"user","accountId":1,"personId":1,"superuser":true,"globalEditor":true,"coherenceAccess":true}'],
    ['x-user-id', '1'],
    ['cookie', 'session=1; token=1'],
  ])('does not grant rights by the header %s', async (header, value) => {
    const answer = await platform.call('GET', '/api/v1/people', { token: null, headers: { [header]: value } });
    expect([answer.status, answer.json.code]).toEqual([401, 'unauthenticated']);
  });
});

/** Sends raw bytes and reads until the connection ends. */
async function speak(text: string): Promise<string> {
  const { hostname, port } = new URL(platform.baseUrl);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (part: string) => (answer += part));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return answer;
}

describe('requests that two servers would interpret differently', () => {
  const body = '0\r\n\r\nGET /api/v1/people HTTP/1.1\r\nHost: x\r\n\r\n';
  it.each([
    ['a length and chunks', `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`],
    ['two lengths', `Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
    ['a coding before chunked that is not known', `Transfer-Encoding: chunked, identity\r\n\r\n${body}`],
    ['a space before the colon', `Content-Length : 5\r\n\r\nhello`],
    ['a folded header', `X-A: 1\r\n Content-Length: 5\r\n\r\nhello`],
    ['a length with a sign', `Content-Length: +5\r\n\r\nhello`],
  ])('rejects an ambiguous request with exactly one response: %s', async (_name, rest) => {
    const answer = await speak(`POST /api/coherence/hook/booking/1 HTTP/1.1\r\nHost: x\r\n${rest}`);
    expect(answer.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(['HTTP/1.1 400']);
  });
});

describe('undeclared paths and methods (OWASP API8 and API9:2023)', () => {
  it.each([
    '/metrics',
    '/livez',
    '/readyz',
    '/debug',
    '/.env',
    '/.git/config',
    '/package.json',
    '/internal/conversations/1/audio',
    '/media/../internal/conversations/1/audio',
    '/media/%2e%2e/internal/conversations/1/audio',
    '/media/..%2finternal%2fconversations%2f1%2faudio',
    '/media/audio/1/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/api/docs/assets/..%2f..%2f..%2fpackage.json',
    '/api/docs/assets/%2e%2e%2fconfig.ts',
    '/chat/assets/x/..%2f..%2f..%2fpackage.json',
    '//example.org/api/v1/people',
    '/api/v1/../coherence/browse',
    '/api/coherence/%00',
    '/api/coherence/conversations/1%00',
  ])('returns an error and reveals no file for the undeclared path %s', async (path) => {
    const answer = await speak(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|401|404|422) /);
    expect(answer).not.toMatch(/"scripts"|root:|location:/i);
  });

  it.each(['TRACE', 'CONNECT', 'DEBUG', 'get'])('rejects the undeclared method %s', async (method) => {
    const answer = await speak(`${method} /api/coherence/browse HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer === '' || /^HTTP\/1\.1 (400|404|405|501) /.test(answer)).toBe(true);
  });

  it('does not repeat Host, Origin or X-Request-Id of a request in headers or pages', async () => {
    for (const path of ['/api/docs', '/api/openapi.json', '/api/v1/docs', '/chat/nobody', '/nowhere']) {
      const answer = await speak(
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nOrigin: https://evil.example\r\nX-Request-Id: a\tSet-Cookie: evil.example\r\nConnection: close\r\n\r\n`,
      );
      expect([path, answer.includes('evil.example')]).toEqual([path, false]);
      expect(answer).not.toMatch(/^(set-cookie|x-powered-by|server):/im);
    }
  });

  it('documents all routes, except documents, pages and files that need no credential', async () => {
    const { routes } = await import('../../services/api-gateway/routes/index.ts');
    // The MCP endpoint is documented by its own protocol (test/e2e/mcp.test.ts).
    const hidden = routes.filter(({ documented, path }) => documented === false && path !== '/mcp');
    expect(hidden.filter(({ auth }) => auth !== 'none').map(({ path }) => path)).toEqual([]);
    // Undocumented routes of the console accept only requests from console pages (test/e2e/console-door.test.ts).
    expect(
      hidden.filter(({ method, path }) => method !== 'GET' && !path.startsWith('/console/')).map(({ path }) => path),
    ).toEqual([]);
  });
});
