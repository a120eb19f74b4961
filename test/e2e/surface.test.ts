import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let conversation: number;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  conversation = (await createConversation(platform, await applyDemo(platform, 'surface'))).id;
});
afterAll(() => platform.stop());

describe('unknown paths and methods (rules/http#paths-and-methods)', () => {
  it.each(['/api/coherence/nothing', '/api/nothing', '/api/coherence'])(
    'returns 404 {detail} for %s, also without a credential',
    async (path) => {
      const answer = await platform.call('GET', path, { token: null });
      expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
    },
  );

  it.each(['/api/v1/nothing', '/api/v1/outreach/anything'])(
    'returns 404 in the v1 envelope for %s (D52)',
    async (path) => {
      const answer = await platform.call('GET', path, { token: null });
      expect([answer.status, answer.json]).toEqual([
        404,
        { code: 'not_found', message: expect.any(String), retryable: false },
      ]);
    },
  );

  it('returns 405 with Allow before it authenticates', async () => {
    const answer = await platform.call('PUT', `/api/coherence/conversations/${conversation}`, { token: null });
    expect([answer.status, answer.json]).toEqual([405, { detail: 'Method not allowed' }]);
    expect(answer.headers.get('allow')).toContain('PATCH');
    const v1 = await platform.call('DELETE', '/api/v1/auth/whoami', { token: null });
    expect([v1.status, v1.json]).toEqual([
      405,
      { code: 'method_not_allowed', message: expect.any(String), retryable: false },
    ]);
    expect(v1.headers.get('allow')).toContain('GET');
  });
});

describe('order of checks (rules/http#order-of-checks)', () => {
  it('authenticates a request before it reads the body, and parses the body before it validates fields', async () => {
    const path = '/api/coherence/conversations/abc';
    expect((await platform.call('PATCH', path, { token: null, body: '{' })).status).toBe(401);
    expect((await platform.call('PATCH', path, { body: '{' })).status).toBe(400);
    const answer = await platform.call('PATCH', path, { json: { infos: 1 } });
    expect([answer.status, answer.json.detail.map((item: any) => item.loc)]).toEqual([
      422,
      [
        ['path', 'conversation_id'],
        ['body', 'payload', 'infos'],
      ],
    ]);
  });
});

describe('headers of every response (rules/http#headers-of-every-answer)', () => {
  it.each(['/api/coherence/nothing', '/api/openapi.json', '/api/coherence/conversations'])(
    'returns request id and version on %s',
    async (path) => {
      const answer = await platform.call('GET', path, { token: null, headers: { 'x-request-id': 'abc-123' } });
      expect(answer.headers.get('x-request-id')).toBe('abc-123');
      expect(answer.headers.get('x-api-version')).toBeTruthy();
    },
  );

  it.each(['x'.repeat(129), 'a b', ''])('generates a request id instead of %j', async (id) => {
    const answer = await platform.call('GET', '/api/coherence/nothing', {
      headers: id === '' ? {} : { 'x-request-id': id },
    });
    expect(answer.headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{8,128}$/);
    expect(answer.headers.get('x-request-id')).not.toBe(id);
  });
});

describe('CORS (rules/http#cross-origin-access)', () => {
  const preflight = (path: string, origin: string) =>
    platform.call('OPTIONS', path, {
      token: null,
      headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization' },
    });

  it('responds to a preflight of an allowed origin with exactly the documented methods and headers', async () => {
    const answer = await preflight('/api/coherence/conversations', 'https://app.example.org');
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example.org');
    expect(answer.headers.get('access-control-allow-methods')?.split(/, ?/).toSorted()).toEqual([
      'GET',
      'OPTIONS',
      'PATCH',
      'POST',
      'PUT',
    ]);
    expect(answer.headers.get('access-control-allow-headers')?.toLowerCase().split(/, ?/).toSorted()).toEqual([
      'authorization',
      'content-type',
    ]);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('sends no CORS headers to other origins', async () => {
    const answer = await preflight('/api/coherence/conversations', 'https://evil.example.org');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('adds CORS headers to every response, including errors and unknown paths', async () => {
    for (const path of [
      '/api/nothing',
      '/api/coherence/conversations',
      `/api/coherence/conversations/${conversation}`,
    ]) {
      const answer = await platform.call('GET', path, { headers: { origin: 'https://app.example.org' } });
      expect([path, answer.headers.get('access-control-allow-origin')]).toEqual([path, 'https://app.example.org']);
      expect(answer.headers.get('vary')).toMatch(/origin/i);
    }
  });

  it('sends no CORS headers on /api/v1 and /api/ops (rules/access#operators)', async () => {
    for (const path of ['/api/v1/auth/whoami', '/api/ops/audit', '/api/ops/nothing', '/api/ops']) {
      const answer = await platform.call('GET', path, { headers: { origin: 'https://app.example.org' } });
      expect([path, answer.headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
  });
});

describe('API documents and their pages (rules/http#live-schema)', () => {
  it.each(['/api/openapi.json', '/api/v1/openapi.json', '/api/ops/openapi.json'])(
    'serves an OpenAPI 3.1 document at %s',
    async (path) => {
      const answer = await platform.call('GET', path, { token: null });
      expect([answer.status, answer.json.openapi]).toEqual([200, expect.stringMatching(/^3\.1\./)]);
      const ids = Object.values(answer.json.paths as Record<string, Record<string, { operationId?: string }>>).flatMap(
        (item) => Object.values(item).map((operation) => operation.operationId),
      );
      expect(ids.length).toBeGreaterThan(path.includes('ops') ? 0 : 2);
      expect(ids.every((id) => typeof id === 'string')).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  it.each(['/api/docs', '/api/v1/docs', '/api/ops/docs'])(
    'serves a documents page at %s that loads resources only from this server',
    async (path) => {
      const answer = await platform.call('GET', path, { token: null });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
      const links = [...answer.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links.filter((item) => !item.startsWith('data:'))) {
        expect(link).not.toMatch(/^(https?:)?\/\//);
        expect([link, (await fetch(new URL(link, `${platform.baseUrl}${path}`))).status]).toEqual([link, 200]);
      }
    },
  );

  it('documents every operation of the conversation API', async () => {
    const { paths } = (await platform.call('GET', '/api/openapi.json', { token: null })).json;
    const served = Object.keys(paths).map((path) => path.replace(/\{[^}]+\}/g, '{}').replace(/\/$/, ''));
    for (const path of [
      'conversations',
      'conversations/{}',
      'conversations/{}/enter-coherence',
      'conversations/{}/recorded',
      'conversations/{}/transcript',
      'conversations/{}/transcript/import-evidence',
      'conversations/{}/audio',
      'hook/booking/{}',
    ]) {
      expect(served).toContain(`/api/coherence/${path}`);
    }
    expect(served).toEqual(expect.arrayContaining(['/api/agents/{}', '/api/chat/{}/message']));
  });
});

describe('logs (rules/operations#logs)', () => {
  it('write no tokens and no bodies', async () => {
    await platform.call('PATCH', `/api/coherence/conversations/${conversation}`, {
      json: { infos: { secret: 'unrepeatable-body-text' } },
    });
    const logs = await platform.readLogs();
    expect(logs).toContain('/api/coherence/conversations');
    expect(logs).not.toContain(platform.sharedToken);
    expect(logs).not.toContain(platform.loginSecret);
    expect(logs).not.toContain('unrepeatable-body-text');
  });
});
