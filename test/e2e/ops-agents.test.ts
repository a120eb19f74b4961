/** Agents for operators: statements waiting for approval (D70, P8), over the API and with the admin CLI. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const password = 'the right password';
const secretVisitor = 'visitor-whom-nobody-may-be';
let platform: TestPlatform;
let tokens: Record<'viewer' | 'operator' | 'user' | 'root', string>;
let threads: number[];

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, { AGENT_KNOWLEDGE: 'reviewed' });
  const account = (name: string, groups: string[]) => ({
    email: `${name}@example.org`,
    person: name,
    password,
    groups,
  });
  await platform.apply({
    people: ['ada', 'viewer', 'operator', 'root'].map((key) => ({ key, name: key })),
    accounts: [
      account('ada', ['coherence_users']),
      account('viewer', ['ops_viewers']),
      account('operator', ['ops_operators']),
      { ...account('root', []), superuser: true },
    ],
    agents: [
      { slug: 'guide', name: 'Guide' },
      { slug: 'host', name: 'Host' },
    ],
  });
  const login = (name: string): Promise<string> => platform.login(`${name}@example.org`, password);
  tokens = {
    user: await login('ada'),
    viewer: await login('viewer'),
    operator: await login('operator'),
    root: await login('root'),
  };
  const rows = await platform.sql<{ id: number }>(
    `insert into agents.threads (agent_id, thread_key, channel, visitor_id, turn_count)
     select a.id, 'web:visitor:${secretVisitor}-' || n || ':agent:' || a.id, 'web', '${secretVisitor}-' || n, 2
     from agents.agents a, generate_series(1, 3) n where a.slug = 'guide' order by n returning id::int as id`,
  );
  threads = rows.map(({ id }) => id);
  await platform.sql(
    `insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
     select $1, turn, type, type || ' ' || turn, '', now() from generate_series(1, 2) turn, unnest(array['chat_visitor', 'chat_agent']) type
     order by turn, type desc`,
    [threads[0]],
  );
  await platform.sql(
    `insert into agents.thread_memories (thread_id, summary, up_to_turn) values ($1, 'About tea', 2)`,
    [threads[0]],
  );
  await platform.sql(
    `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
     select agent_id, id, 'visitor', 'Likes tea', 2 from agents.threads where id = $1`,
    [threads[0]],
  );
});
afterAll(() => platform.stop());

beforeEach(async () => {
  await platform.sql(`delete from agents.memory_facts where kind = 'knowledge'`);
  await platform.sql(
    `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
     select agent_id, id, 'knowledge', 'Sentence ' || n, 2 from agents.threads, generate_series(1, 3) n where id = $1 order by n`,
    [threads[0]],
  );
});

const get = (path: string, token: string | null = tokens.viewer) =>
  platform.call('GET', `/api/ops/agents${path}`, { token });
const decide = (verb: 'approve' | 'reject', ids: unknown, { slug = 'guide', token = tokens.operator } = {}) =>
  platform.call('POST', `/api/ops/agents/${slug}/knowledge/${verb}`, { token, json: { ids } });
const sentences = async (state?: 'waiting' | 'approved'): Promise<any[]> =>
  (await get(`/guide/knowledge${state === undefined ? '' : `?state=${state}`}`)).json.items;

describe('GET /api/ops/agents (D70, P9)', () => {
  it('returns the number of pending knowledge sentences per agent, in pages, like the admin CLI', async () => {
    await decide('approve', [(await sentences())[0].id]);
    const guide = { slug: 'guide', name: 'Guide', waiting: 2, approved: 1 };
    const host = { slug: 'host', name: 'Host', waiting: 0, approved: 0 };
    expect((await get('')).json).toEqual({ items: [guide, host], next: null });
    const first = (await get('?limit=1')).json;
    expect([first.items, (await get(`?limit=1&cursor=${first.next}`)).json]).toEqual([
      [guide],
      { items: [host], next: null },
    ]);
    expect(await platform.ask('agents', 'list')).toEqual([guide, host]);
    expect(await platform.ask('agents', 'list', '--after', 'guide')).toEqual([host]);
  });

  it('rejects a cursor of another list with 400 (P8)', async () => {
    const { next } = (await get('?limit=1')).json;
    for (const path of ['?cursor=x', `/guide/knowledge?cursor=${next}`])
      expect((await get(path)).json.code).toBe('bad_cursor');
  });
});

describe('agent knowledge (D70, P9)', () => {
  it('approves and rejects knowledge sentences for operators, with an audit entry for each action', async () => {
    const [one, two, three] = await sentences('waiting');
    expect(one).toEqual({
      id: one.id,
      body: 'Sentence 1',
      thread_id: threads[0],
      channel: 'web',
      up_to_turn: 2,
      created_at: expect.any(String),
      approved_at: null,
    });
    expect(await decide('approve', [one.id, two.id])).toMatchObject({ status: 200, json: { approved: 2 } });
    expect(await decide('reject', [two.id])).toMatchObject({ status: 200, json: { rejected: 1 } });
    expect((await sentences('approved')).map(({ id }) => id)).toEqual([one.id]);
    expect((await sentences()).map(({ id }) => id)).toEqual([one.id, three.id]);
    expect((await get('/guide/knowledge?limit=1')).json).toMatchObject({
      mode: 'reviewed',
      items: [{ id: one.id }],
      next: expect.any(String),
    });
    const entries = (await platform.call('GET', '/api/ops/audit?target=agent:guide&limit=2', { token: tokens.viewer }))
      .json.items;
    expect(entries).toMatchObject([
      { action: 'agent.reject-knowledge', actor: { email: 'operator@example.org' }, changes: { ids: [two.id] } },
      {
        action: 'agent.approve-knowledge',
        actor: { email: 'operator@example.org' },
        changes: { ids: [one.id, two.id] },
      },
    ]);
    expect(
      (await platform.ask('agents', 'knowledge', 'list', 'guide', '--waiting')).map(({ id }: { id: number }) => id),
    ).toEqual([three.id]);
  });

  it('identifies threads of knowledge by number, because a visitor id would allow writing in the thread (D33a)', async () => {
    const { status, text } = await get('/guide/knowledge');
    expect([status, text.includes(secretVisitor), text.includes(`"thread_id":${threads[0]}`)]).toEqual([
      200,
      false,
      true,
    ]);
    expect((await platform.ask('agents', 'record', 'guide', '--thread', String(threads[0]))).threads).toMatchObject([
      { message_count: 4, memory: { facts: ['Likes tea'] } },
    ]);
    expect((await get('/nobody/knowledge')).json.code).toBe('not_found');
  });

  it('changes nothing when one selected sentence does not exist, and rejects an empty selection', async () => {
    const [one] = await sentences();
    expect((await decide('approve', [one.id, 2_000_000_000])).json.code).toBe('not_found');
    expect((await decide('reject', [one.id, 2_000_000_000])).json.code).toBe('not_found');
    expect((await decide('approve', [one.id], { slug: 'host' })).json.code).toBe('not_found');
    for (const ids of [[], [0], ['x'], undefined]) expect((await decide('reject', ids)).status).toBe(422);
    expect((await sentences('waiting')).length).toBe(3);
  });

  it('rejects approvals beyond the limit of 200 sentences per agent', async () => {
    await platform.sql(
      `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
       select agent_id, id, 'knowledge', 'More ' || n, 2 from agents.threads, generate_series(1, 198) n where id = $1`,
      [threads[0]],
    );
    const waiting = await platform.sql<{ id: number }>(
      `select id::int as id from agents.memory_facts where kind = 'knowledge'`,
    );
    const { status, json } = await decide(
      'approve',
      waiting.map(({ id }) => id),
    );
    expect([status, json.code]).toEqual([409, 'too_much_knowledge']);
    expect(await sentences('approved')).toEqual([]);
  });

  it('allows viewers to read knowledge, and only operators to approve and reject it', async () => {
    const [one] = await sentences();
    for (const verb of ['approve', 'reject'] as const) {
      expect((await decide(verb, [one.id], { token: tokens.viewer })).json.code).toBe('permission_denied');
      expect((await decide(verb, [one.id], { token: platform.sharedToken })).status).toBe(401);
    }
    for (const path of ['', '/guide/knowledge']) {
      expect((await get(path, tokens.user)).json.code).toBe('permission_denied');
      expect((await get(path, null)).status).toBe(401);
    }
    expect((await sentences('waiting')).length).toBe(3);
  });
});

describe('stored chats and webhooks of agents', () => {
  const post = (path: string, json: unknown, token = tokens.operator) =>
    platform.call('POST', `/api/ops/agents/${path}`, { token, json });

  it('returns the record of an agent in pages to callers that may act', async () => {
    const page = (await post('guide/record', { limit: 2 })).json;
    expect([page.threads.length, page.next]).toEqual([2, threads[1]]);
    expect((await post('guide/record', { after: page.next })).json.threads).toHaveLength(1);
    const one = (await post('guide/record', { thread_id: threads[0], limit: 1 })).json;
    expect(one).toMatchObject({ threads: [{ message_count: 4, memory: { summary: 'About tea' } }], next: 1 });
    expect((await post('guide/record', {}, tokens.viewer)).status).toBe(403);
    expect((await post('nobody/record', {})).status).toBe(404);
    expect((await post('guide/record', { limit: 0 })).status).toBe(422);
  });

  it('reports why a webhook cannot be read or registered, and lets only superusers register one', async () => {
    const { root } = tokens;
    const base_url = 'https://chat.example.org';
    expect((await get('/guide/webhook')).json.code).toBe('bot_not_configured');
    expect((await get('/nobody/webhook')).status).toBe(404);
    expect((await post('guide/webhook', { base_url }, root)).json.code).toBe('bot_not_configured');
    expect((await post('nobody/webhook', { base_url }, root)).status).toBe(404);
    expect(await post('guide/webhook', { base_url })).toMatchObject({ status: 403, json: { code: 'not_a_superuser' } });
    expect((await post('guide/webhook', { base_url: 'chat.example.org' }, root)).status).toBe(422);
  });

  it('deletes the chats of a visitor or of an agent, and rejects other selections', async () => {
    const counts = { threads: 1, messages: 4, facts: expect.any(Number) };
    for (const body of [{}, { slug: 'guide' }, { all: true }, { visitor_id: 'x', telegram_user_id: 1 }])
      expect((await post('forget', body)).json.code).toBe('ambiguous_selection');
    expect((await post('forget', { slug: 'nobody', all: true })).status).toBe(404);
    expect((await post('forget', { visitor_id: '' })).status).toBe(422);
    expect((await post('forget', { visitor_id: 'x' }, tokens.viewer)).status).toBe(403);
    expect((await post('forget', { visitor_id: `${secretVisitor}-1` })).json).toEqual(counts);
    expect(await platform.ask('agents', 'forget', 'guide', '--all', '--yes')).toMatchObject({ threads: 2 });
  });
});
