import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmServer, startLlm } from '#libs/product/testing';
import { type Answer, startTestPlatform, type TestPlatform } from './test-platform.ts';

let llm: LlmServer;
let platform: TestPlatform;
beforeAll(async () => {
  llm = await startLlm();
  platform = await startTestPlatform(import.meta.url, {
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    LLM_MODEL: 'scripted',
    LLM_TIMEOUT_MS: '500',
    RATE_LIMIT_CHAT_PER_MINUTE: '4',
  });
  await platform.apply({
    people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } }],
    accounts: [{ email: 'ada@example.org', person: 'ada', password: 'correct horse', superuser: true }],
    agents: [
      {
        slug: 'guide',
        name: 'Guide',
        prompt: 'You are the guide.',
        config: {
          messaging: { bot_token: '1:very-secret', webhook_secret: 'hush-hush-hush-hush-hush', echo_channel: '-1001' },
        },
      },
      { slug: 'limited', name: 'Limited' },
    ],
  });
});
afterAll(async () => {
  await platform.stop();
  await llm.stop();
});

const say = (json: unknown, slug = 'guide'): Promise<Answer> =>
  platform.call('POST', `/api/chat/${slug}/message/`, { token: null, json });

describe('POST /api/chat/{agent_slug}/updates/ (H2, D71)', () => {
  it('limits update requests per visitor, separately from message requests', async () => {
    const { json } = await say({ body: 'Hello' }, 'limited');
    const ask = (visitorId: string): Promise<Answer> =>
      platform.call('POST', '/api/chat/limited/updates/', { token: null, json: { visitor_id: visitorId } });
    const asked = [];
    for (let count = 0; count < 5; count++) asked.push(await ask(json.visitor_id));
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(Number(asked.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask('somebody-else')).status).toBe(200);
    expect((await say({ body: 'Still here', visitor_id: json.visitor_id }, 'limited')).status).toBe(200);
  });
});

describe('GET /api/agents/{slug}/ (rules/agents#agents; D30; rules/http#etag)', () => {
  it('rejects a per-user token on the agent route with 401', async () => {
    const token = await platform.login('ada@example.org', 'correct horse');
    expect((await platform.call('GET', '/api/agents/guide/', { token })).status).toBe(401);
  });

  it('does not expose the agent configuration', async () => {
    const answer = await platform.call('GET', '/api/agents/guide/');
    expect(JSON.stringify(answer.json)).not.toMatch(/very-secret|hush-hush|-1001|config/);
    expect(await platform.readLogs()).not.toMatch(/very-secret|hush-hush/);
  });

  it('returns 304 for the current ETag of an agent', async () => {
    const tag = (await platform.call('GET', '/api/agents/guide/')).headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[^"]+"$/);
    expect((await platform.call('GET', '/api/agents/guide', { headers: { 'If-None-Match': tag } })).status).toBe(304);
  });

  it.each(['/api/agents/gui%00de/', '/api/agents/%ED%A0%80/', `/api/agents/${'x'.repeat(3000)}/`])(
    'returns 404 for the invalid agent slug %#',
    async (path) => {
      expect([404, 422, 400]).toContain((await platform.call('GET', path)).status);
    },
  );
});

describe('POST /api/chat/{agent_slug}/message/ without a reply (D33, D33a)', () => {
  it('returns 503 with Retry-After in the {detail} envelope when the model fails, and records nothing', async () => {
    llm.fail({ kind: 'status', status: 500 }, { kind: 'silent' });
    const answer = await say({ body: 'Unheard words' });
    expect([answer.status, Object.keys(answer.json as object)]).toEqual([503, ['detail']]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await platform.findInDatabase('Unheard words')).toEqual([]);
    expect(await platform.readLogs()).not.toContain('Unheard words');
  });

  it('returns 429 with Retry-After over the message limit of a visitor, and still replies to other visitors', async () => {
    const first = await say({ body: '1' }, 'limited');
    const { visitor_id } = first.json as { visitor_id: string };
    for (const body of ['2', '3', '4']) expect((await say({ body, visitor_id }, 'limited')).status).toBe(200);
    const refused = await say({ body: '5', visitor_id }, 'limited');
    expect([refused.status, Object.keys(refused.json as object)]).toEqual([429, ['detail']]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await say({ body: 'somebody else' }, 'limited')).status).toBe(200);
  });
});
