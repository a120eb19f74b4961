/** Conversations with all their data for operators (rules/operations-api#conversations): pages, filters, rights, errors. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

const password = 'the right password';
const root = '/api/ops/conversations';
let platform: TestPlatform;
let demo: Demo;
let superuser: string;
let viewer: string;
/** Ids of five conversations, oldest first. */
const ids: number[] = [];

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'ops');
  await platform.apply({
    people: [{ key: 'viewer', name: 'Viewer' }],
    accounts: [{ email: 'viewer@example.org', person: 'viewer', password, groups: ['ops_viewers'] }],
  });
  superuser = await platform.login(`root-${demo.tag}@example.org`, `secret-of-root-${demo.tag}`);
  viewer = await platform.login('viewer@example.org', password);
  for (let n = 0; n < 5; n++) {
    const json = { journey_slug: demo.journey, start: `2026-05-0${n + 1}T10:00:00Z` };
    ids.push((await platform.call('POST', '/api/coherence/conversations', { json })).json.id);
  }
  for (const id of ids.slice(0, 3))
    await platform.call('DELETE', `/api/coherence/conversations/${id}`, { token: superuser });
});
afterAll(() => platform.stop());

const get = (path: string, token = viewer, headers: Record<string, string> = {}) =>
  platform.call('GET', `${root}${path}`, { token, headers });

/** Returns the ids of all pages with two items each. */
async function readPages(path: string): Promise<number[]> {
  const found: number[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { json } = await get(`${path}?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...json.items.map(({ id }: { id: number }) => id));
    cursor = json.next;
  }
  return found;
}

describe('conversations for operators', () => {
  it('are listed newest first, without deleted ones', async () => {
    expect(await readPages('')).toEqual(ids.slice(3).toReversed());
  });

  it('are listed once each when they are deleted, latest deletion first', async () => {
    expect(await readPages('/deleted')).toEqual(ids.slice(0, 3).toReversed());
  });

  it('are shown with their data, deleted or not, and with an ETag', async () => {
    const [gone = 0] = ids;
    const { json, headers } = await get(`/${gone}`);
    expect(json).toMatchObject({ id: gone, deleted: { reason: 'account' } });
    const tag = headers.get('etag') ?? '';
    expect((await get(`/${gone}`, superuser, { 'if-none-match': tag })).status).toBe(304);
  });

  it.each([
    ['an unknown conversation', '/2147483647', 404, 'not_found'],
    ['an id that is no number', '/first', 422, undefined],
    ['an unknown journey', '?journey_slug=nowhere', 404, 'not_found'],
    ['an unknown event', '?event_slug=nowhere', 404, 'not_found'],
    ['an invalid cursor', '?cursor=no', 400, 'bad_cursor'],
    ['an invalid cursor of deleted ones', '/deleted?cursor=no', 400, 'bad_cursor'],
    ['a limit that is too large', '?limit=100000', 422, undefined],
    ['a limit of deleted ones that is too large', '/deleted?limit=100000', 422, undefined],
  ])('return an error for %s', async (_what, path, status, code) => {
    const answer = await get(path);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    if (status === 422) expect(answer.json.detail).toEqual([expect.objectContaining({ loc: expect.any(Array) })]);
  });

  it('are refused to accounts without operator rights', async () => {
    const token = await platform.login(`ben-${demo.tag}@example.org`, `secret-of-ben-${demo.tag}`);
    for (const path of ['', '/deleted', `/${ids[4]}`]) expect((await get(path, token)).status).toBe(403);
  });
});

describe('import evidence for operators', () => {
  const list = (query: string) => platform.call('GET', `/api/ops/import-evidence?${query}`, { token: viewer });

  it('is listed for a conversation, and for all conversations that imported an artifact', async () => {
    const evidence = expect.objectContaining({ conversationId: ids[4], status: 'never_ran' });
    const items = [{ evidence, session_started_at: null }];
    expect((await list(`conversation_id=${ids[4]}`)).json).toEqual({ items });
    expect((await list(`sha256=${'0'.repeat(64)}`)).json).toEqual({ items: [] });
  });

  it.each([
    ['', 400, 'ambiguous_selection'],
    [`conversation_id=1&sha256=${'0'.repeat(64)}`, 400, 'ambiguous_selection'],
    ['conversation_id=2147483647', 404, 'not_found'],
    ['sha256=0', 422, undefined],
  ])('returns an error for the query "%s"', async (query, status, code) => {
    const answer = await list(query);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });
});
