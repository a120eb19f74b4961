/** Set-up over HTTP: statuses, envelopes, ETags, keys. The rules are tested in test/integration/directory (W5, W12, W18). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let editor: string;
let admin: string;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  await platform.apply({
    people: [
      { key: 'ed', name: 'Ed' },
      { key: 'ada', name: 'Ada' },
    ],
    accounts: [
      { email: 'ed@example.org', person: 'ed', password: 'secret-of-ed', groups: ['workspace_editors'] },
      { email: 'ada@example.org', person: 'ada', password: 'secret-of-ada', superuser: true },
    ],
  });
  editor = await platform.login('ed@example.org', 'secret-of-ed');
  admin = await platform.login('ada@example.org', 'secret-of-ada');
});
afterAll(() => platform.stop());

const send = (
  method: string,
  path: string,
  { json, headers, token = editor }: { json?: unknown; headers?: Record<string, string>; token?: string } = {},
) =>
  platform.call(method, `/api/v1${path}`, {
    token,
    ...(json === undefined ? {} : { json }),
    ...(headers === undefined ? {} : { headers }),
  });
const error = (code: string) => ({ code, message: expect.any(String), retryable: false });

describe('set-up over HTTP (W5, W12, W13)', () => {
  it('updates classes and journeys with the ETag of their GET, and returns the next one', async () => {
    expect((await send('POST', '/classes', { json: { slug: 'tagged' } })).status).toBe(201);
    expect((await send('POST', '/journeys', { json: { slug: 'tagged', name: 'T' } })).status).toBe(201);
    for (const path of ['/classes/holon/tagged', '/journeys/tagged']) {
      const read = await send('GET', path);
      const tag = read.headers.get('etag') ?? '';
      expect((await send('GET', path, { token: admin })).headers.get('etag')).toBe(tag);
      const json = { description: 'New' };
      const updated = await send('POST', `${path}/update`, { json, headers: { 'if-match': tag } });
      expect(updated.status).toBe(200);
      expect(updated.headers.get('etag')).toBe((await send('GET', path)).headers.get('etag'));
      const stale = await send('POST', `${path}/update`, { json, headers: { 'if-match': tag } });
      expect([stale.status, stale.json]).toEqual([412, error('precondition_failed')]);
      expect((await send('DELETE', path, { headers: { 'if-match': tag } })).status).toBe(412);
    }
    const step = await send('POST', '/journeys/tagged/steps', { json: { slug: 's', title: 'S' } });
    const headers = { 'if-match': step.headers.get('etag') ?? '' };
    const path = '/journeys/tagged/steps/s';
    expect((await send('POST', `${path}/update`, { json: { title: 'Two' }, headers })).status).toBe(200);
    expect((await send('POST', `${path}/update`, { json: { title: 'Three' }, headers })).status).toBe(412);
    const deleted = await send('DELETE', path);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await send('DELETE', path)).status).toBe(404);
  });

  it('creates one object for one key, and returns its conflicts in the envelope', async () => {
    const headers = { 'idempotency-key': 'create-once' };
    const json = { slug: 'once', name: 'Once' };
    const first = await send('POST', '/journeys', { json, headers });
    const again = await send('POST', '/journeys', { json, headers });
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(again.json).toEqual(first.json);
    const taken = await send('POST', '/journeys', { json });
    expect([taken.status, taken.json]).toEqual([409, error('slug_taken')]);
    await send('POST', '/classes', { json: { slug: 'user', journeys: ['once'] } });
    const used = await send('DELETE', '/journeys/once');
    expect([used.status, used.json]).toEqual([
      409,
      { ...error('in_use'), counts: { memberships: 0, relationships: 0, catalogues: 1, conversations: 0 } },
    ]);
  });

  it('rejects wrong shapes with 422 and wrong values with 400', async () => {
    await send('POST', '/journeys', { json: { slug: 'shapes', name: 'S' } });
    for (const [path, json] of [
      ['/classes', {}],
      ['/classes', { slug: 'a\u0007b' }],
      ['/classes', { slug: 'x', sort_order: 'first' }],
      ['/journeys', { slug: 'x' }],
      ['/journeys', { slug: 'x', name: 'x'.repeat(501) }],
      ['/journeys/shapes/steps', { slug: 'x' }],
      ['/journeys/shapes/steps', { slug: 'x', title: 'X', position: -1 }],
      ['/journeys/shapes/questions', { text: 5 }],
      ['/journeys/shapes/questions/x/update', {}],
    ] as const)
      expect([path, (await send('POST', path, { json })).status]).toEqual([path, 422]);
    for (const [path, json] of [
      ['/classes', { slug: 'not a slug' }],
      ['/classes', { slug: 'x', parent: 'absent' }],
      ['/journeys/shapes/update', { name: ' ' }],
      ['/journeys/shapes/steps', { slug: 'x', title: 'X', pipeline_job: 'absent' }],
      ['/journeys/shapes/questions', { text: ' ' }],
    ] as const) {
      const answer = await send('POST', path, { json });
      expect([path, answer.status, answer.json]).toEqual([path, 400, error('validation_error')]);
    }
    for (const path of ['shapes/questions/0', `${'x'.repeat(300)}/steps/a`, 'shapes/steps/%00', 'x'.repeat(300)])
      expect([path, (await send('POST', `/journeys/${path}/update`, { json: {} })).status]).toEqual([path, 404]);
  });

  it('needs the scope of its operation from service keys (W18)', async () => {
    const keyOf = async (scopes: string[]): Promise<string> =>
      (await send('POST', '/keys', { json: { name: 'k', scopes } })).json.token;
    const [reader, writer] = [await keyOf(['workspace:read', 'directory:write']), await keyOf(['workspace:write'])];
    await send('POST', '/journeys', { json: { slug: 'scoped', name: 'S' } });
    const read = (token: string) => send('GET', '/journeys/scoped/questions', { token });
    const write = (token: string) => send('POST', '/journeys/scoped/questions', { token, json: { text: 'Q?' } });
    expect([(await read(reader)).status, (await write(writer)).status]).toEqual([200, 201]);
    const denied = [await read(writer), await write(reader)];
    expect(denied.map(({ status, json }) => [status, json.code, json.required_scope])).toEqual([
      [403, 'insufficient_scope', 'workspace:read'],
      [403, 'insufficient_scope', 'workspace:write'],
    ]);
  });
});
