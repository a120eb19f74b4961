import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Answer, Call, Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let token: string;
let count = 0;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  demo = await applyDemo(platform, 'inf');
  token = await platform.login('ben-inf@example.org', 'secret-of-ben-inf');
});
afterAll(() => platform.stop());

async function fresh(): Promise<number> {
  count += 1;
  return (await createConversation(platform, demo, new Date(Date.UTC(2025, 0, 1) - count * 3_600_000).toISOString()))
    .id;
}
const path = (id: number | string): string => `/api/coherence/conversations/${id}/infos`;
const read = (id: number, call: Call = {}): Promise<Answer> => platform.call('GET', path(id), { token, ...call });
const patch = (id: number, infos: unknown, call: Call = {}): Promise<Answer> =>
  platform.call('PATCH', path(id), { token, json: { infos }, ...call });
const get = async (id: number) => (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;

describe('GET and PATCH /conversations/{id}/infos (rules/conversations#infos)', () => {
  it('returns {} when no infos are stored', async () => {
    const answer = await read(await fresh());
    expect([answer.status, answer.json]).toEqual([200, { infos: {} }]);
  });

  it('merges top-level keys of infos, replaces whole values and returns the result', async () => {
    const id = await fresh();
    expect((await patch(id, { a: { x: 1 }, b: [1] })).json).toEqual({ infos: { a: { x: 1 }, b: [1] } });
    const answer = await patch(id, { a: { y: 2 }, c: null });
    expect([answer.status, answer.json]).toEqual([200, { infos: { a: { y: 2 }, b: [1], c: null } }]);
    expect((await read(id)).json).toEqual(answer.json);
    expect((await get(id)).infos).toEqual(answer.json.infos);
  });

  it('does not return or change config in infos requests', async () => {
    const id = await fresh();
    await platform.call('PATCH', `/api/coherence/conversations/${id}`, { json: { config: { kept: 1 } } });
    const answer = await platform.call('PATCH', path(id), {
      token,
      json: { infos: { a: 1 }, config: { kept: 2, booking: 1 } },
    });
    expect([answer.status, answer.json]).toEqual([200, { infos: { a: 1 } }]);
    expect((await get(id)).config).toEqual({ kept: 1 });
  });

  it('loses no update in concurrent writes of infos', async () => {
    const id = await fresh();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => patch(id, { [`k${n}`]: n })));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(Object.keys((await read(id)).json.infos)).toHaveLength(50);
  });

  it('preserves big integers and keys such as __proto__ in infos (rules/http#numbers-and-keys)', async () => {
    const id = await fresh();
    const body = '{"infos":{"big":12345678901234567890,"__proto__":{"a":1},"constructor":2}}';
    const answer = await platform.call('PATCH', path(id), {
      token,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
    for (const text of [answer.text, (await read(id)).text]) {
      expect(text).toMatch(/"big": ?12345678901234567890/);
      expect(text).toMatch(/"__proto__": ?\{"a": ?1\}/);
    }
  });

  it('changes updated_at only if infos change (D9a)', async () => {
    const id = await fresh();
    const before = (await get(id)).updated_at;
    await patch(id, { a: 1 });
    const after = (await get(id)).updated_at;
    expect(after > before).toBe(true);
    await patch(id, { a: 1 });
    await patch(id, {});
    expect((await get(id)).updated_at).toBe(after);
  });

  it('ignores expected_updated_at and If-Match for infos (D9a)', async () => {
    const id = await fresh();
    const answer = await patch(
      id,
      { a: 1 },
      { json: { infos: { a: 1 }, expected_updated_at: '2020-01-01T00:00:00Z' }, headers: { 'if-match': '"other"' } },
    );
    expect([answer.status, answer.json]).toEqual([200, { infos: { a: 1 } }]);
  });

  it('returns an ETag of infos, and 304 for a matching ETag (rules/http#etag)', async () => {
    const id = await fresh();
    const etag = (await read(id)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"/);
    expect((await read(id, { headers: { 'if-none-match': etag } })).status).toBe(304);
    await patch(id, { a: 1 });
    expect((await read(id, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });
});

describe('infos, namespaces (rules/conversations#namespaces; D9b)', () => {
  it.each([
    ['enter-coherence', 'enter-coherence'],
    ['booking', 'reserved for internal use'],
    ['pipeline', 'reserved for internal use'],
    ['pipeline.import', 'reserved for internal use'],
    ['idempotency', 'reserved for internal use'],
    ['question_changes', 'question-changes'],
    ['question_timings', 'derived'],
    ['audio', '/audio'],
  ])('rejects the info key %s with any value and writes nothing', async (key, hint) => {
    const id = await fresh();
    for (const value of [{}, null]) {
      const answer = await patch(id, { ok: 1, [key]: value });
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_namespace_placement']);
      expect(answer.json.message).toContain(key);
      expect(answer.json.message).toContain(hint);
    }
    expect((await read(id)).json).toEqual({ infos: {} });
  });

  it.each(['publishing', 'publishing_status', 'publish_decisions', 'publishing_approval', 'anything', 'audio_notes'])(
    'accepts the info key %s',
    async (key) => {
      expect((await patch(await fresh(), { [key]: { a: 1 } })).json).toEqual({ infos: { [key]: { a: 1 } } });
    },
  );
});

describe('infos, rejected requests (rules/conversations#infos; D12)', () => {
  it.each([
    [{}, 'missing'],
    [{ infos: null }, 'dict_type'],
    [{ infos: [] }, 'dict_type'],
    [{ infos: 'x' }, 'dict_type'],
  ])('returns 422 for the infos %j', async (json, type) => {
    const answer = await platform.call('PATCH', path(await fresh()), { token, json });
    expect([answer.status, answer.json.detail[0].type, answer.json.detail[0].loc]).toEqual([
      422,
      type,
      ['body', 'payload', 'infos'],
    ]);
  });

  it('returns 404 for an unknown conversation before it validates the keys', async () => {
    expect([(await read(999_999_999)).json, (await patch(999_999_999, { audio: 1 })).json]).toEqual([
      { detail: 'Not Found' },
      { detail: 'Not Found' },
    ]);
  });

  it('rejects the shared token with 403 and a missing token with 401 for infos', async () => {
    const id = await fresh();
    for (const method of ['GET', 'PATCH']) {
      const shared = await platform.call(method, path(id), method === 'GET' ? {} : { json: { infos: {} } });
      expect([shared.status, shared.json.error]).toEqual([403, 'per_user_token_required']);
      expect((await platform.call(method, path(id), { token: null })).status).toBe(401);
    }
  });
});
