/** Tasks that operators start: reconciliation of bookings, transcript imports, retention of the feed, model usage. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let root: string;
let viewer: string;
beforeAll(async () => {
  // Nothing listens there: the job fails and is retried.
  platform = await startTestPlatform(import.meta.url, {
    CALCOM_API_KEY: 'cal_key',
    CALCOM_API_URL: 'http://127.0.0.1:9',
  });
  demo = await applyDemo(platform, 'tasks');
  await platform.apply({
    people: [{ key: 'viewer', name: 'Viewer' }],
    accounts: [
      { email: 'viewer@example.org', person: 'viewer', password: 'the right password', groups: ['ops_viewers'] },
    ],
  });
  root = await platform.login('root-tasks@example.org', 'secret-of-root-tasks');
  viewer = await platform.login('viewer@example.org', 'the right password');
});
afterAll(() => platform.stop());

const post = (path: string, json: unknown, token = root) => platform.call('POST', `/api/ops${path}`, { token, json });
const jobsOf = (schema: string, type: string) =>
  platform.sql(`select id from ${schema}.jobs where type = $1 order by id`, [type]);

describe('tasks of operators (rules/operations-api#tasks)', () => {
  it('starts the reconciliation of bookings', async () => {
    const { status, json } = await post('/bookings/reconcile', { dry_run: true, since: '2026-01-01T00:00:00Z' });
    expect(status).toBe(200);
    expect(await jobsOf('conversations', 'conversations.booking-reconcile')).toContainEqual({ id: json.job_id });
  });

  it('starts the transcript import of a conversation, also with the admin CLI', async () => {
    const { id } = await createConversation(platform, demo);
    const { status, json } = await post(`/conversations/${id}/import-transcript`, {});
    expect([status, json]).toEqual([200, { conversation_id: id, job_id: expect.any(String) }]);
    expect(await platform.ask('conversations', 'import-transcript', String(id))).toMatchObject({ conversation_id: id });
    expect(await platform.cli('conversations', 'import-transcript', '999999')).toMatchObject({
      code: 1,
      stderr: 'Conversation 999999 does not exist.\n',
    });
  });

  it('removes events from before a time, also with the admin CLI', async () => {
    const before = '2020-01-01T00:00:00Z';
    expect((await post('/events/prune', { before })).json).toEqual({ removed: 0 });
    expect(await platform.ask('events', 'prune', '--before', before, '--yes')).toEqual({ removed: 0 });
  });

  it('lists the use of the language model, also with the admin CLI', async () => {
    await platform.apply({ agents: [{ slug: 'guide', name: 'Guide' }] });
    await platform.sql(
      `insert into agents.model_usage (agent_id, day, purpose, calls, failed_calls, calls_without_usage, prompt_tokens, completion_tokens, duration_ms)
       select id, '2026-05-01', 'chat', 3, 1, 0, 40, 20, 900 from agents.agents where slug = 'guide'`,
    );
    const item = {
      slug: 'guide',
      day: '2026-05-01',
      purpose: 'chat',
      calls: 3,
      failed_calls: 1,
      calls_without_usage: 0,
    };
    const items = [{ ...item, prompt_tokens: 40, completion_tokens: 20, duration_ms: 900 }];
    const list = (query: string) => platform.call('GET', `/api/ops/agents/usage?${query}`, { token: viewer });
    expect((await list('slug=guide&since=2026-05-01')).json).toEqual({ items });
    expect((await list('since=2026-05-02')).json).toEqual({ items: [] });
    expect(await platform.ask('agents', 'usage', 'guide')).toEqual(items);
  });

  it.each([
    ['/bookings/reconcile', {}],
    ['/conversations/1/import-transcript', {}],
    ['/events/prune', { before: '2020-01-01T00:00:00Z' }],
  ])('rejects %s of an operator who may only read', async (path, body) => {
    expect((await post(path, body, viewer)).status).toBe(403);
  });
});
