/** Chat takeover by operators: rights, two concurrent operators, and the admin CLI (H1, H2, H5). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmServer, startLlm } from '#libs/product/testing';
import { operatorId } from '../operator-login.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const password = 'the right password';
let llm: LlmServer;
let platform: TestPlatform;
let tokens: Record<'viewer' | 'operator' | 'other' | 'user' | 'chatAgent', string>;

beforeAll(async () => {
  llm = await startLlm();
  platform = await startTestPlatform(
    import.meta.url,
    { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'scripted' },
    { services: ['api-gateway', 'directory', 'agents'] },
  );
  const groups = {
    user: ['coherence_users'],
    viewer: ['ops_viewers'],
    operator: ['ops_operators'],
    other: ['ops_operators'],
    chatAgent: ['chat_agents'],
  };
  const names = Object.keys(groups) as (keyof typeof groups)[];
  await platform.apply({
    people: names.map((key) => ({ key, name: key })),
    accounts: names.map((name) => ({ email: `${name}@example.org`, person: name, password, groups: groups[name] })),
    agents: [{ slug: 'guide', name: 'Guide' }],
  });
  const login = (name: string): Promise<string> => platform.login(`${name}@example.org`, password);
  tokens = {
    user: await login('user'),
    viewer: await login('viewer'),
    operator: await login('operator'),
    other: await login('other'),
    chatAgent: await login('chatAgent'),
  };
});
afterAll(async () => {
  await platform.stop();
  await llm.stop();
});

const act = (who: keyof typeof tokens, verb: string, id: number, json: unknown = {}, headers = {}) =>
  platform.call('POST', `/api/ops/threads/${id}/${verb}`, { token: tokens[who], json, headers });
const say = (body: string, visitorId: string | null = null, headers = {}) =>
  platform.call('POST', '/api/chat/guide/message/', { token: null, json: { body, visitor_id: visitorId }, headers });
const list = (query = '', who: keyof typeof tokens = 'viewer') =>
  platform.call('GET', `/api/ops/threads${query}`, { token: tokens[who] });

async function openThread(): Promise<{ id: number; visitorId: string }> {
  const { json } = await say('Hello');
  const { json: threads } = await list('?limit=1');
  return { id: threads.items[0].id, visitorId: json.visitor_id };
}

describe('/api/ops/threads (rules/operations-api#threads; H5)', () => {
  it('lets chat agents read and answer threads, and nothing else of the operations API (W7, W17)', async () => {
    const { id } = await openThread();
    expect((await list('', 'chatAgent')).json.items[0]).toMatchObject({ id });
    await act('operator', 'take', id);
    const read = await platform.call('GET', `/api/ops/threads/${id}`, { token: tokens.chatAgent });
    expect(read.json.thread.taken_by.account.email).toBe('operator@example.org');
    expect((await act('chatAgent', 'take', id)).json.taken_by.account.email).toBe('operator@example.org');
    expect((await act('chatAgent', 'hand-back', id)).status).toBe(200);
    expect((await act('chatAgent', 'take', id)).status).toBe(200);
    expect((await act('chatAgent', 'message', id, { body: 'I am here.' })).status).toBe(200);
    for (const path of ['overview', 'jobs', 'webhooks', 'pipelines', 'agents', 'agents/guide/knowledge', 'audit'])
      expect((await platform.call('GET', `/api/ops/${path}`, { token: tokens.chatAgent })).json.code).toBe(
        'permission_denied',
      );
    const key = await platform.call('POST', '/api/v1/keys', {
      token: tokens.chatAgent,
      json: { name: 'reader', scopes: ['ops:read'] },
    });
    const token = key.json.token as string;
    expect((await platform.call('GET', '/api/ops/threads', { token })).status).toBe(200);
    expect((await platform.call('POST', `/api/ops/threads/${id}/take`, { token, json: {} })).json.code).toBe(
      'insufficient_scope',
    );
  });

  it('shows threads to viewers, allows operators to act, and denies both to other accounts', async () => {
    const { id, visitorId } = await openThread();
    const { status, text, json } = await list('?agent=guide&channel=web&taken=false');
    expect([status, json.items[0].id]).toEqual([200, id]);
    expect(text).not.toContain(visitorId);
    const thread = (headers = {}) => platform.call('GET', `/api/ops/threads/${id}`, { token: tokens.viewer, headers });
    const whole = await thread();
    expect(whole.json.messages).toHaveLength(2);
    expect((await thread({ 'if-none-match': whole.headers.get('etag') ?? '' })).status).toBe(304);
    for (const verb of ['take', 'hand-back'])
      expect((await act('viewer', verb, id)).json.code).toBe('permission_denied');
    expect((await act('viewer', 'message', id, { body: 'x' })).status).toBe(403);
    expect((await list('', 'user')).status).toBe(403);
    expect((await platform.call('GET', '/api/ops/threads')).status).toBe(401);
    expect((await list('?cursor=abc')).json.code).toBe('bad_cursor');
    expect((await act('operator', 'take', 999_999)).json.code).toBe('not_found');
  });

  it('lists all threads in pages, each once', async () => {
    await openThread();
    await openThread();
    const ids: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { json } = await list(`?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      ids.push(...json.items.map((item: { id: number }) => item.id));
      cursor = json.next;
    }
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => b - a));
    expect(ids.length).toBeGreaterThanOrEqual(3);
  });

  it('allows one of two operators to take over a thread, reports the holder to the other, and allows either to end the takeover (H1)', async () => {
    const { id, visitorId } = await openThread();
    const both = await Promise.all([act('operator', 'take', id), act('other', 'take', id)]);
    expect(both.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 409]);
    const [holder, loser] =
      both[0]?.status === 200 ? (['operator', 'other'] as const) : (['other', 'operator'] as const);
    const refused = both.find(({ status }) => status === 409);
    const takenBy = { account: { id: expect.any(Number), email: `${holder}@example.org` }, since: expect.any(String) };
    expect(refused?.json).toEqual({
      code: 'thread_taken',
      message: expect.any(String),
      retryable: false,
      taken_by: takenBy,
    });
    expect((await act(loser, 'message', id, { body: 'x' })).json).toMatchObject({
      code: 'thread_taken',
      taken_by: takenBy,
    });
    const key = { 'Idempotency-Key': 'once' };
    const first = await act(holder, 'message', id, { body: 'Hello from a person' }, key);
    expect(first.json.message).toMatchObject({
      author: { kind: 'operator', account: takenBy.account },
      delivery: null,
    });
    expect((await act(holder, 'message', id, { body: 'Hello from a person' }, key)).json).toEqual(first.json);
    expect((await act(loser, 'message', id, { body: 'Hello from a person' }, key)).json.code).toBe('thread_taken');
    const found = await platform.call('POST', '/api/chat/guide/updates/', {
      token: null,
      json: { visitor_id: visitorId },
    });
    expect(found.headers.get('cache-control')).toBe('no-store');
    expect(found.json).toMatchObject({ waits_for: 'person', messages: [{ operator_html: 'Hello from a person' }] });
    expect((await act(loser, 'hand-back', id)).json.thread.taken_by).toBeNull();
    const audit = await platform.sql<{ action: string; email: string; changes: unknown }>(
      `select l.action, a.email, l.changes from agents.audit_log l join directory.accounts a on a.id = l.account_id
       where l.target_id = $1 order by l.id`,
      [String(id)],
    );
    expect(audit.map(({ action, email }) => [action, email])).toEqual([
      ['thread.take', `${holder}@example.org`],
      ['thread.say', `${holder}@example.org`],
      ['thread.hand-back', `${loser}@example.org`],
    ]);
    expect(JSON.stringify(audit)).not.toContain('Hello from');
  });

  it('ends a streamed reply with `done` and a notice that a person will reply when the thread is taken over (H2)', async () => {
    const { id, visitorId } = await openThread();
    await act('operator', 'take', id);
    const { status, headers, text } = await say('Streamed?', visitorId, { accept: 'text/event-stream' });
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/event-stream')]);
    const events = text.split('\n\n').filter((event) => event.startsWith('event: '));
    expect(events).toHaveLength(1);
    expect(JSON.parse(events[0]?.replace(/^event: done\ndata: /, '') ?? '')).toMatchObject({
      visitor_id: visitorId,
      waits_for: 'person',
    });
  });

  it('ends a streamed reply immediately when the thread is taken over, and sends no later model output (H1)', async () => {
    const { id, visitorId } = await openThread();
    const held = Promise.withResolvers<void>();
    llm.answerWith(() => 'Slow answer secret end.', {
      before: (word) => (word === 'answer' ? held.promise : undefined),
    });
    const response = await fetch(`${platform.baseUrl}/api/chat/guide/message/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify({ body: 'Slowly', visitor_id: visitorId }),
    });
    let seen = '';
    // The model waits until the stream has ended.
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (seen === '') expect((await act('operator', 'take', id)).status).toBe(200);
      seen += text;
    }
    held.resolve();
    llm.answerWith(undefined);
    const events = seen.split('\n\n').filter((event) => event.startsWith('event: '));
    expect(events).toHaveLength(2);
    expect(events[0]).toBe('event: snapshot\ndata: {"agent_html":"Slow"}');
    expect(JSON.parse(events[1]?.replace(/^event: done\ndata: /, '') ?? '')).toMatchObject({
      visitor_id: visitorId,
      waits_for: 'person',
    });
    const { json } = await platform.call('GET', `/api/ops/threads/${id}`, { token: tokens.viewer });
    expect(json.messages.at(-1)).toMatchObject({ author: { kind: 'visitor' }, body: 'Slowly' });
  });

  it('lists threads, takes them over and sends operator messages in the admin CLI', async () => {
    const { id } = await openThread();
    expect(
      (await platform.ask('threads', 'list', '--no-taken', '--agent', 'guide')).map((thread: any) => thread.id),
    ).toContain(id);
    expect(await platform.ask('threads', 'take', String(id))).toMatchObject({
      id,
      taken_by: { account_id: operatorId },
    });
    expect((await act('operator', 'take', id)).json).toMatchObject({
      code: 'thread_taken',
      taken_by: { account: { id: operatorId } },
    });
    expect(await platform.ask('threads', 'say', String(id), 'From the command line')).toMatchObject({
      author: 'operator',
    });
    expect((await platform.ask('threads', 'show', String(id))).messages.at(-1).body).toBe('From the command line');
    expect(await platform.ask('threads', 'hand-back', String(id))).toMatchObject({ taken_by: null });
    expect((await platform.cli('threads', 'take', '999999')).code).not.toBe(0);
  });
});
