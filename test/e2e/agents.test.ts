import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startLlm, type LlmServer } from '#libs/product/testing';
import { startTestPlatform } from './test-platform.ts';
import type { TestPlatform } from './test-platform.ts';

let llm: LlmServer;
let platform: TestPlatform;
let silent: TestPlatform;
beforeAll(async () => {
  llm = await startLlm();
  const model = { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'test-model' };
  const services = ['api-gateway', 'directory', 'agents'];
  [platform, silent] = (await Promise.all(
    [model, {}].map((settings) => startTestPlatform(import.meta.url, settings, { services })),
  )) as [TestPlatform, TestPlatform];
  for (const place of [platform, silent]) {
    await place.apply({
      agents: [
        { slug: 'guide', name: 'Guide', prompt: 'You are the guide.', infos: { color: 'blue' } },
        { slug: 'bare', name: 'Bare', prompt: null, infos: null },
      ],
    });
  }
});
afterAll(async () => {
  await Promise.all([platform.stop(), silent.stop()]);
  await llm.stop();
});

const say = (json: unknown, slug = 'guide', place = platform) =>
  place.call('POST', `/api/chat/${slug}/message/`, { token: null, json });

describe('GET /api/agents/{slug}/ (rules/agents#agents; D30, D33e)', () => {
  it('returns the agent record with the shared token and does not expose its configuration', async () => {
    const answer = await platform.call('GET', '/api/agents/guide/');
    expect([answer.status, answer.json]).toEqual([
      200,
      { slug: 'guide', name: 'Guide', prompt: 'You are the guide.', infos: { color: 'blue' } },
    ]);
    expect((await platform.call('GET', '/api/agents/bare')).json).toEqual({
      slug: 'bare',
      name: 'Bare',
      prompt: '',
      infos: {},
    });
  });

  it('returns 404 for an unknown slug and 401 without the token', async () => {
    const answer = await platform.call('GET', '/api/agents/nobody/');
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
    expect((await platform.call('GET', '/api/agents/guide/', { token: null })).status).toBe(401);
  });
});

describe('POST /api/chat/{agent_slug}/message/ (rules/agents#visitor-chat; D33, D33a)', () => {
  it('replies to a first message with a thread id, which continues the thread in the next message', async () => {
    const first = await say({ body: 'Hello **there** <script>alert(1)</script>' });
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      visitor_id: expect.any(String),
      thread_key: expect.stringMatching(/^web:visitor:.+:agent:\d+$/),
      human_html: expect.stringContaining('<b>there</b>'),
      agent_html: expect.any(String),
      created_at: expect.stringMatching(/\+00:00$/),
    });
    expect(first.json.thread_key).toContain(first.json.visitor_id);
    expect(first.json.human_html).not.toContain('<script');
    expect(first.json.agent_html.length).toBeGreaterThan(0);
    const second = await say({ body: 'And again', visitor_id: first.json.visitor_id });
    expect(second.json.thread_key).toBe(first.json.thread_key);
  });

  it.each(['', '   ', '\n\t'])('returns 400 for the empty message body %j', async (body) => {
    expect((await say({ body })).status).toBe(400);
  });

  it('returns 404 for an unknown agent before 400 for an empty body', async () => {
    const answer = await say({ body: '' }, 'nobody');
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it.each([[{}], [{ body: 5 }], [{ body: 'x'.repeat(16_385) }], [{ body: 'x', visitor_id: 5 }]])(
    'returns 422 for a message body with wrong types',
    async (body) => {
      expect((await say(body)).status).toBe(422);
    },
  );

  it.each(['unknown', '', 'x'.repeat(500)])('starts a new thread for the unknown visitor_id %j', async (visitor_id) => {
    const answer = await say({ body: 'Hello', visitor_id });
    expect([answer.status, answer.json.visitor_id === visitor_id]).toEqual([200, false]);
  });

  it('does not continue a thread of another agent', async () => {
    const first = await say({ body: 'Hello' });
    const other = await say({ body: 'Hello', visitor_id: first.json.visitor_id }, 'bare');
    expect([other.status, other.json.visitor_id === first.json.visitor_id]).toEqual([200, false]);
  });

  it('returns 503 without a configured model, after the checks for 404 and 400', async () => {
    expect((await say({ body: 'Hello' }, 'nobody', silent)).status).toBe(404);
    const answer = await say({ body: 'Hello' }, 'guide', silent);
    expect([answer.status, Object.keys(answer.json)]).toEqual([503, ['detail']]);
    const record: unknown = await silent.ask('agents', 'record', 'guide');
    expect(JSON.stringify(record)).not.toContain('Hello');
  });
});
