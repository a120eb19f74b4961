import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Call, Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let count = 0;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  demo = await applyDemo(platform, 'patch');
});
afterAll(() => platform.stop());

/**
 * Creates a conversation that no other test writes to. Its hour is in the past and unique, and earlier than all
 * previous ones, so that no existing conversation matches.
 */
async function fresh(): Promise<any> {
  count += 1;
  return createConversation(platform, demo, new Date(Date.UTC(2025, 0, 1) - count * 3_600_000).toISOString());
}
const get = (id: number, call?: Call) => platform.call('GET', `/api/coherence/conversations/${id}`, call);
const patch = (id: number, json: unknown, headers: Record<string, string> = {}) =>
  platform.call('PATCH', `/api/coherence/conversations/${id}`, { json, headers });

describe('GET /conversations/{id} (rules/conversations#read-and-patch)', () => {
  it('returns a conversation with a strong ETag, and 304 for a matching ETag', async () => {
    const made = await fresh();
    const answer = await get(made.id);
    expect([answer.status, answer.json]).toEqual([200, made]);
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const value of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const cached = await get(made.id, { headers: { 'if-none-match': value } });
      expect([value, cached.status, cached.text, cached.headers.get('etag')]).toEqual([value, 304, '', etag]);
    }
    expect((await get(made.id, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('returns an ETag of a conversation that does not depend on the token', async () => {
    const made = await fresh();
    const token = await platform.login('ada-patch@example.org', 'secret-of-ada-patch');
    expect((await get(made.id, { token })).headers.get('etag')).toBe((await get(made.id)).headers.get('etag'));
  });

  it.each(['999999999', '0', '-1', '99999999999999999999'])('returns 404 for the conversation id %s', async (id) => {
    const answer = await platform.call('GET', `/api/coherence/conversations/${id}`);
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('returns 422 for a conversation id that is not an integer', async () => {
    const answer = await platform.call('GET', '/api/coherence/conversations/abc');
    expect([answer.status, answer.json.detail[0].loc, answer.json.detail[0].type]).toEqual([
      422,
      ['path', 'conversation_id'],
      'int_parsing',
    ]);
  });

  it('accepts a trailing slash without a redirect (rules/http#paths-and-methods)', async () => {
    const made = await fresh();
    expect((await platform.call('GET', `/api/coherence/conversations/${made.id}/`)).status).toBe(200);
  });
});

describe('PATCH /conversations/{id} (rules/conversations#read-and-patch)', () => {
  it('replaces the top-level keys in the request and preserves the others', async () => {
    const { id } = await fresh();
    await patch(id, { infos: { a: { x: 1, y: 2 }, b: 1 }, config: { room: 'north' } });
    const answer = await patch(id, { infos: { a: { x: 3 }, c: null } });
    expect([answer.status, answer.json.infos, answer.json.config]).toEqual([
      200,
      { a: { x: 3 }, b: 1, c: null },
      { room: 'north' },
    ]);
    expect((await get(id)).json).toEqual(answer.json);
  });

  it('increases updated_at with every write (D9a)', async () => {
    const { id, updated_at } = await fresh();
    const first = (await patch(id, { infos: { n: 1 } })).json.updated_at;
    const second = (await patch(id, { infos: { n: 2 } })).json.updated_at;
    expect(first > updated_at).toBe(true);
    expect(second > first).toBe(true);
  });

  it('preserves integers above 2^53 and prototype names as plain data (rules/http#numbers-and-keys)', async () => {
    const { id } = await fresh();
    const body = '{"infos":{"big":12345678901234567890,"__proto__":{"admin":true},"constructor":{"prototype":1}}}';
    const answer = await platform.call('PATCH', `/api/coherence/conversations/${id}`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
    for (const text of [answer.text, (await get(id)).text]) {
      expect(text).toContain('12345678901234567890');
      expect(text).toMatch(/"__proto__": ?\{"admin": ?true\}/);
      expect(text).toMatch(/"constructor": ?\{"prototype": ?1\}/);
    }
  });

  it('loses no concurrent writes to different keys', async () => {
    const { id } = await fresh();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => patch(id, { infos: { [`k${index}`]: index } })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(Object.keys((await get(id)).json.infos)).toHaveLength(40);
  });

  const everywhere = [
    'enter-coherence',
    'booking',
    'pipeline',
    'pipeline.transcript',
    'idempotency',
    'question_changes',
    'question_timings',
  ];
  it.each([
    ...everywhere.flatMap((key) => [
      ['infos', key],
      ['config', key],
    ]),
    ['config', 'publishing'],
    ['config', 'publishing_status'],
    ['config', 'publish_decisions'],
    ['config', 'publishing_approval'],
  ])('rejects the key %s.%s with any value and writes nothing (D9b)', async (field, key) => {
    const made = await fresh();
    for (const value of [{}, null, 1]) {
      const answer = await patch(made.id, { [field]: { fine: 1, [key]: value } });
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_namespace_placement']);
      expect(answer.json.message).toContain(key);
    }
    expect((await get(made.id)).json).toEqual(made);
  });

  it.each([
    ['enter-coherence', '/enter-coherence'],
    ['question_changes', '/question-changes'],
  ])('names in the error the endpoint to use instead of %s', async (key, endpoint) => {
    const { id } = await fresh();
    expect((await patch(id, { config: { [key]: {} } })).json.message).toContain(endpoint);
  });

  it.each([
    ['infos', 'publishing'],
    ['infos', 'publishing_status'],
    ['infos', 'publish_decisions'],
    ['infos', 'publishing_approval'],
    ['infos', 'audio_notes'],
    ['config', 'anything'],
    ['config', 'pipelines'],
  ])('accepts the key %s.%s', async (field, key) => {
    const { id } = await fresh();
    expect((await patch(id, { [field]: { [key]: { x: 1 } } })).json[field][key]).toEqual({ x: 1 });
  });
});

describe('PATCH /conversations/{id}, conditions (D9, D9a)', () => {
  it('writes when expected_updated_at is the current time in any offset, and otherwise returns 409', async () => {
    const { id, updated_at } = await fresh();
    const shifted = updated_at.replace('Z', '+00:00');
    const written = await patch(id, { infos: { a: 1 }, expected_updated_at: shifted });
    expect(written.status).toBe(200);
    const stale = await patch(id, { infos: { a: 2 }, expected_updated_at: updated_at });
    expect([stale.status, stale.json]).toEqual([
      409,
      { error: 'stale_conversation', message: expect.any(String), updated_at: written.json.updated_at },
    ]);
    expect((await get(id)).json.infos).toEqual({ a: 1 });
  });

  it('treats expected_updated_at null as absent, and rejects a time without an offset with 422', async () => {
    const { id } = await fresh();
    expect((await patch(id, { infos: { a: 1 }, expected_updated_at: null })).status).toBe(200);
    const naive = await patch(id, { infos: { a: 2 }, expected_updated_at: '2026-05-01T10:00:00' });
    expect([naive.status, naive.json.detail[0].loc]).toEqual([422, ['body', 'payload', 'expected_updated_at']]);
  });

  it('writes with the current ETag in If-Match, and returns 412 for another ETag', async () => {
    const { id } = await fresh();
    const etag = (await get(id)).headers.get('etag') ?? '';
    const written = await patch(id, { infos: { a: 1 } }, { 'if-match': etag });
    expect(written.status).toBe(200);
    const stale = await patch(id, { infos: { a: 2 } }, { 'if-match': etag });
    expect([stale.status, stale.json]).toEqual([
      412,
      { error: 'precondition_failed', message: expect.any(String), updated_at: written.json.updated_at },
    ]);
    expect((await patch(id, { infos: { a: 3 } }, { 'if-match': '*' })).status).toBe(200);
  });

  it('checks a PATCH for 404, then 412, then 409, then 400', async () => {
    const { id, updated_at } = await fresh();
    await patch(id, { infos: { a: 1 } });
    const bad = { config: { booking: {} }, expected_updated_at: updated_at };
    expect((await patch(999_999_999, bad, { 'if-match': '"x"' })).status).toBe(404);
    expect((await patch(id, bad, { 'if-match': '"x"' })).status).toBe(412);
    expect((await patch(id, bad)).status).toBe(409);
    expect((await patch(id, { config: { booking: {} } })).status).toBe(400);
  });
});

describe('PATCH /conversations/{id}, bodies (rules/http#json-body-cap)', () => {
  const send = async (body: string | Uint8Array<ArrayBuffer>) => {
    const made = await fresh();
    const answer = await platform.call('PATCH', `/api/coherence/conversations/${made.id}`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    if (answer.status !== 200) expect((await get(made.id)).json).toEqual(made);
    return answer;
  };

  it.each(['', '{', 'nope', '{"infos":{}} x', "{'infos':{}}"])('returns 400 for the PATCH body %j', async (body) => {
    const answer = await send(body);
    expect([answer.status, answer.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
  });

  it('returns 400 for a PATCH body with invalid UTF-8', async () => {
    expect((await send(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).status).toBe(400);
  });

  it.each(['[]', '1', '"a"', 'null'])('returns 422 for a PATCH body that is not an object: %s', async (body) => {
    const answer = await send(body);
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['body', 'payload']]);
  });

  it.each(['[]', '1', '"a"', 'true'])('returns 422 when infos in a PATCH is %s', async (value) => {
    const answer = await send(`{"infos":${value}}`);
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['body', 'payload', 'infos']]);
  });

  it.each([
    '{"infos":{"a":"x\\u0000"}}',
    '{"infos":{"a\\u0000":1}}',
    '{"config":{"a":["\\ud800"]}}',
    '{"infos":{"\\udc00":1}}',
  ])('returns 422 for a PATCH with %s', async (body) => {
    expect((await send(body)).status).toBe(422);
  });

  it('accepts a PATCH body with 64 levels of nesting and returns 400 for 65', async () => {
    const nest = (levels: number) => `{"infos":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;
    expect((await send(nest(64))).status).toBe(200);
    expect((await send(nest(65))).status).toBe(400);
  });

  it('accepts a PATCH body of 4 194 304 bytes and returns 413 for one more', async () => {
    const fill = (size: number) => '{"infos":{"a":1}}'.padEnd(size); // Padding does not count towards the limit of the stored value (D63).
    expect((await send(fill(4_194_304))).status).toBe(200);
    const answer = await send(fill(4_194_305));
    expect([answer.status, Object.keys(answer.json)]).toEqual([413, ['detail']]);
  });

  it('ignores unknown fields of a PATCH body', async () => {
    expect((await send('{"infos":{"a":1},"surprise":{"deep":[1]}}')).status).toBe(200);
  });
});
