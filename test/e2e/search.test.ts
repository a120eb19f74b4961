import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prepareDiscovery } from './discovery-data.ts';
import type { Place } from './discovery-data.ts';
import { eventually, startTestPlatform } from './test-platform.ts';
import type { Answer, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let place: Place;
/** Conversations by name. */
const made: Record<string, number> = {};

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  place = await prepareDiscovery(platform, 'sea');
  const { ada, ben } = place.demo;
  made['alpha'] = await place.put({
    event: 'alpha',
    journey: 'talk-a',
    start: '2026-05-01T10:00:00Z',
    participants: [ada, ben],
    connected: ['beta', 'secret'],
  });
  made['beta'] = await place.put({
    event: 'beta',
    journey: 'talk-a',
    start: '2026-05-02T10:00:00Z',
    participants: [ben],
  });
  made['tie'] = await place.put({
    event: 'beta',
    journey: 'talk-b',
    start: '2026-05-01T10:00:00Z',
    participants: [ada],
  });
  made['closed'] = await place.put({
    event: 'closed',
    journey: 'talk-a',
    start: '2026-05-03T10:00:00Z',
    participants: [ada],
    connected: ['beta'],
  });
  made['undated'] = await place.put({ event: 'alpha', journey: 'talk-b', participants: [ada], connected: ['alpha'] });
  made['lost'] = await place.put({
    start: '2026-04-01T23:30:00Z',
    infos: { publishing: { fields: { title: { value: 'Named', provenance: {} } } } },
  });
});
afterAll(() => platform.stop());

const search = (query = '', token = place.tokens.stranger): Promise<Answer> =>
  platform.call('GET', `/api/coherence/conversations/search${query}`, { token });
const summary = (id: number | undefined, token = place.tokens.stranger): Promise<Answer> =>
  platform.call('GET', `/api/coherence/conversations/${id}/summary`, { token });
const idsOf = (answer: Answer): number[] => answer.json.map((item: { id: number }) => item.id);
const ids = (...names: string[]): (number | undefined)[] => names.map((name) => made[name]);

describe('GET /conversations/search (rules/discovery#search-and-summary; D5)', () => {
  it('lists all conversations by start, newest first, those without a start last, equal ones by id', async () => {
    const answer = await search();
    expect([answer.status, idsOf(answer)]).toEqual([200, ids('beta', 'alpha', 'tie', 'lost', 'undated')]);
    expect(idsOf(await search('?sort=date_desc'))).toEqual(idsOf(answer));
  });

  it('lists the oldest start first on request, and conversations without a start last', async () => {
    expect(idsOf(await search('?sort=date_asc'))).toEqual(ids('lost', 'alpha', 'tie', 'beta', 'undated'));
  });

  it('returns search items in the format of D5, without infos and config', async () => {
    const answer = await search('?holon_slug=alpha&sort=date_asc');
    expect(answer.json[0]).toEqual({
      id: made['alpha'],
      title: 'Conversation of 2026-05-01',
      event: { id: place.holons['alpha'], slug: 'alpha', name: 'Zeta', type: 'event' },
      journey: { slug: 'talk-a', name: 'Talk A', description: 'First' },
      step: { slug: 'held', title: 'Held' },
      start: '2026-05-01T10:00:00Z',
      finish: null,
      participants: [
        { id: place.demo.ada, name: 'Ada', photo: null, contact: { email: 'ada-sea@example.org' } },
        { id: place.demo.ben, name: 'Ben', photo: null, contact: { email: 'ben-sea@example.org' } },
      ],
      connected: [{ id: place.holons['beta'], slug: 'beta', name: 'Beta', type: 'event' }],
    });
  });

  it('returns empty strings and null for unset journey, step, event or start, and the same title as browse (D18a, D18b)', async () => {
    const items = (await search()).json;
    expect(items.find((item: { id: number }) => item.id === made['lost'])).toEqual({
      id: made['lost'],
      title: 'Named',
      event: null,
      journey: { slug: '', name: '', description: '' },
      step: { slug: '', title: '' },
      start: '2026-04-01T23:30:00Z',
      finish: null,
      participants: [],
      connected: [],
    });
    expect(items.at(-1).title).toBe(`Conversation ${made['undated']}`);
  });

  it('does not create a conversation (rules/http#side-effects)', async () => {
    const count = `select count(*)::int as n from conversations.conversations`;
    const before = await platform.sql(count);
    await search('?person_id=1');
    expect(await platform.sql(count)).toEqual(before);
  });
});

describe('search, filters (rules/discovery#search-and-summary)', () => {
  it('filters conversations by the owning holon and its descendants, without linked conversations', async () => {
    expect(idsOf(await search('?holon_slug=guild'))).toEqual(ids('beta', 'alpha', 'tie', 'undated'));
    expect(idsOf(await search('?holon_slug=circle'))).toEqual(ids('beta', 'tie'));
    expect(idsOf(await search('?holon_slug=beta'))).toEqual(ids('beta', 'tie'));
  });

  it('filters conversations by explicitly linked holon, without owned conversations (D28)', async () => {
    expect(idsOf(await search('?connected_holon_slug=beta'))).toEqual(ids('alpha'));
    expect(idsOf(await search('?connected_holon_slug=alpha'))).toEqual(ids('undated'));
    expect((await search('?connected_holon_slug=circle')).json).toEqual([]);
  });

  it('filters conversations by participant', async () => {
    expect(idsOf(await search(`?person_id=${place.demo.ben}`))).toEqual(ids('beta', 'alpha'));
  });

  it('returns conversations that match all filters', async () => {
    const { ada, ben } = place.demo;
    expect(idsOf(await search(`?holon_slug=guild&connected_holon_slug=beta&person_id=${ben}`))).toEqual(ids('alpha'));
    expect(idsOf(await search(`?holon_slug=circle&person_id=${ada}`))).toEqual(ids('tie'));
    expect((await search(`?holon_slug=circle&connected_holon_slug=beta&person_id=${ben}`)).json).toEqual([]);
  });

  it.each([
    'holon_slug=nowhere',
    'holon_slug=',
    'connected_holon_slug=nowhere',
    'connected_holon_slug=',
    'person_id=999999',
    'person_id=0',
    'person_id=-3',
    'person_id=99999999999999999999',
  ])('returns 404 for the search filter %s (D18g; rules/http#ids)', async (query) => {
    const answer = await search(`?${query}`);
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it.each([
    ['sort=newest', 'enum', 'sort'],
    ['sort=', 'enum', 'sort'],
    ['person_id=x', 'int_parsing', 'person_id'],
  ])('returns 422 for the search filter %s', async (query, type, name) => {
    const answer = await search(`?${query}`);
    expect([answer.status, answer.json.detail[0].type, answer.json.detail[0].loc]).toEqual([
      422,
      type,
      ['query', name],
    ]);
  });

  it('ignores unknown search parameters (rules/http#paths-and-methods)', async () => {
    expect(idsOf(await search('?holon_slug=beta&size=1'))).toHaveLength(2);
  });
});

describe('search and summary of private holons (D18f, D48)', () => {
  it('return a conversation of a private event only to callers who can see the event', async () => {
    for (const token of [place.tokens.member, place.tokens.root]) {
      expect(idsOf(await search('?holon_slug=guild', token))).toEqual(ids('closed', 'beta', 'alpha', 'tie', 'undated'));
      expect(idsOf(await search('?holon_slug=closed', token))).toEqual(ids('closed'));
      expect((await summary(made['closed'], token)).json.event.slug).toBe('closed');
    }
    expect(idsOf(await search(`?person_id=${place.demo.ada}`))).not.toContain(made['closed']);
    expect(idsOf(await search('?connected_holon_slug=beta'))).not.toContain(made['closed']);
    expect([(await search('?holon_slug=closed')).status, (await summary(made['closed'])).status]).toEqual([404, 404]);
  });

  it('omit a hidden holon from `connected`, and return 404 for it as a filter', async () => {
    const connected = async (token: string): Promise<string[]> =>
      (await summary(made['alpha'], token)).json.connected.map((item: { slug: string }) => item.slug);
    expect([await connected(place.tokens.root), await connected(place.tokens.member)]).toEqual([
      ['beta', 'secret'],
      ['beta'],
    ]);
    expect(idsOf(await search('?connected_holon_slug=secret', place.tokens.root))).toEqual(ids('alpha'));
    expect((await search('?connected_holon_slug=secret', place.tokens.member)).status).toBe(404);
  });
});

describe('GET /conversations/{id}/summary (rules/discovery#search-and-summary)', () => {
  it('returns one conversation as a search item with an ETag', async () => {
    const answer = await summary(made['beta']);
    const found = (await search()).json.find((item: { id: number }) => item.id === made['beta']);
    expect([answer.status, answer.json]).toEqual([200, found]);
    const etag = answer.headers.get('etag') ?? '';
    const again = await platform.call('GET', `/api/coherence/conversations/${made['beta']}/summary`, {
      token: place.tokens.root,
      headers: { 'if-none-match': etag },
    });
    expect(again.status).toBe(304);
  });

  it('returns 404 for the summary of an unknown id, and 422 for an id that is not an integer', async () => {
    expect([(await summary(999_999_999)).json, (await summary(0)).status]).toEqual([{ detail: 'Not Found' }, 404]);
    const answer = await platform.call('GET', '/api/coherence/conversations/x/summary', {
      token: place.tokens.stranger,
    });
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['path', 'conversation_id']]);
  });

  it('returns a changed participant in the summary immediately', async () => {
    await platform.apply({ people: [{ key: 'ben-sea', name: 'Benedict' }] });
    expect((await summary(made['beta'])).json.participants[0].name).toBe('Benedict');
    await platform.apply({ people: [{ key: 'ben-sea', name: 'Ben' }] });
  });
});

describe('search and summary, credentials (rules/access#classes-of-routes; D12)', () => {
  it('reject the shared token with 403 and a missing token with 401 for search and summary', async () => {
    for (const path of ['search', `${made['beta']}/summary`]) {
      const shared = await platform.call('GET', `/api/coherence/conversations/${path}`);
      expect([shared.status, shared.json.error]).toEqual([403, 'per_user_token_required']);
      expect((await platform.call('GET', `/api/coherence/conversations/${path}`, { token: null })).status).toBe(401);
    }
  });
});

describe('search without a limit (rules/http#limits)', () => {
  const many = 30_000;
  beforeAll(async () => {
    await platform.sql(
      `insert into conversations.conversations (event_id, journey_id, start_at, participant_ids)
       select $1, $2, timestamptz '2020-01-01' + n * interval '1 minute', array[$3::integer] from generate_series(1, $4::integer) n`,
      [place.holons['alpha'], place.journeys['talk-a'], place.demo.ada, many],
    );
  });

  it('streams all search results in order', async () => {
    const items = (await search('?sort=date_asc&holon_slug=alpha')).json;
    expect(items).toHaveLength(many + 2);
    const starts = items.map((item: { start: string | null }) => item.start ?? '9');
    expect(starts).toEqual(starts.toSorted());
    expect(new Set(items.map((item: { id: number }) => item.id)).size).toBe(items.length);
  });

  it('cancels the database query when the client disconnects', async () => {
    const leave = new AbortController();
    const response = await fetch(`${platform.baseUrl}/api/coherence/conversations/search`, {
      headers: { authorization: `Bearer ${place.tokens.root}` },
      signal: leave.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const open = (): Promise<{ n: number }[]> =>
      platform.sql<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'conversations' and state <> 'idle'`,
      );
    expect((await open())[0]?.n).toBeGreaterThan(0);
    leave.abort();
    await eventually(async () => expect(await open()).toEqual([{ n: 0 }]));
  });
});
