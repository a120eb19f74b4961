/** Further filters, text and pages of the search in conversations (rules/discovery#search-and-summary; W8, W22). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prepareDiscovery } from './discovery-data.ts';
import type { Place } from './discovery-data.ts';
import { startTestPlatform } from './test-platform.ts';
import type { Answer, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let place: Place;
let editor: string;
/** Conversations by name. */
const made: Record<string, number> = {};
const root = '/api/coherence/conversations';

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  place = await prepareDiscovery(platform, 'few');
  editor = await platform.login('ada-few@example.org', 'secret-of-ada-few');
  const { ids } = await platform.apply({ people: [{ key: 'zoe', name: 'Zoë Łukasz', contact: {} }] });
  const zoe = ids['people']?.['zoe'] ?? 0;
  const { ada, ben } = place.demo;
  const titled = (title: unknown) => ({ publishing: { fields: { title } } });
  const put = async (name: string, values: Parameters<Place['put']>[0]): Promise<void> => {
    made[name] = await place.put(values);
  };
  await put('first', { event: 'alpha', journey: 'talk-a', start: '2026-05-01T10:00:00Z', participants: [ada, zoe] });
  await put('second', {
    event: 'beta',
    journey: 'talk-a',
    start: '2026-05-02T10:00:00Z',
    participants: [ben],
    infos: titled({ value: 'Über das Zuhören', provenance: {} }),
  });
  await put('third', { event: 'beta', journey: 'talk-b', start: '2026-05-03T10:00:00Z', infos: titled('Listening') });
  await put('closed', { event: 'closed', journey: 'talk-a', start: '2026-05-04T10:00:00Z', participants: [zoe] });
  await put('undated', { journey: 'talk-b', participants: [zoe], infos: titled('  ') });
  await put('gone', { event: 'alpha', journey: 'talk-a', start: '2026-05-05T10:00:00Z', participants: [ada] });
  await platform.call('DELETE', `${root}/${made['gone']}`, { token: editor });
});
afterAll(() => platform.stop());

const search = (query: string, token = place.tokens.stranger): Promise<Answer> =>
  platform.call('GET', `${root}/search?${query}`, { token });
const namesOf = ({ json }: Answer): (string | undefined)[] =>
  json.map(({ id }: { id: number }) => Object.keys(made).find((name) => made[name] === id));

describe('GET /conversations/search with further filters (W8)', () => {
  it.each([
    ['journey=talk-b', ['third', 'undated']],
    ['step=held', ['third', 'second', 'first', 'undated']],
    ['journey=talk-a&step=held&sort=date_asc', ['first', 'second']],
    ['from=2026-05-02T10:00:00Z', ['third', 'second']],
    ['to=2026-05-02T10:00:00Z', ['first']],
    ['from=2026-05-02T12:00:00%2B02:00&to=2026-05-03T10:00:00Z', ['second']],
    ['from=2026-05-02T10:00:00&to=2026-05-02T10:00:00', []],
    ['holon_slug=beta&journey=talk-a', ['second']],
    ['q=zuhoren', ['second']],
    ['q=ZUHÖREN%20uber', ['second']],
    ['q=lukasz%20zoe', ['first', 'undated']],
    ['q=ada%20of%202026-05-01', ['first']],
    ['q=conversation', ['first', 'undated']],
    ['q=conversation&offset=1', ['undated']],
    ['q=ben%20listening', []],
    ['q=%20', ['third', 'second', 'first', 'undated']],
    ['deleted=false', ['third', 'second', 'first', 'undated']],
    ['offset=3', ['undated']],
  ])('finds by %s', async (query, names) => {
    const answer = await search(query);
    expect([answer.status, namesOf(answer)]).toEqual([200, names]);
    expect([answer.headers.get('x-total-count'), answer.headers.get('link')]).toEqual([null, null]);
  });

  it('finds the title of a conversation without a start by its id', async () => {
    expect(namesOf(await search(`q=conversation%20${made['undated']}`))).toContain('undated');
  });

  it.each(['journey=none', 'step=none', 'journey=chores&step=none', 'journey=&q=x'])(
    'returns 404 for %s',
    async (query) => {
      expect((await search(query)).status).toBe(404);
    },
  );

  it.each(['limit=0', 'limit=201', 'offset=-1', 'deleted=maybe', 'from=2026-05-01', 'to=soon', `q=${'x'.repeat(501)}`])(
    'returns 422 for %s',
    async (query) => {
      expect((await search(query)).status).toBe(422);
    },
  );

  it('returns pages with the number of all and a link to the next page', async () => {
    const first = await search('limit=2&sort=date_desc');
    expect([namesOf(first), first.headers.get('x-total-count')]).toEqual([['third', 'second'], '4']);
    const link = /^<(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await platform.call('GET', link, { token: place.tokens.stranger });
    expect([namesOf(second), second.headers.get('x-total-count'), second.headers.get('link')]).toEqual([
      ['first', 'undated'],
      '4',
      null,
    ]);
    const found = await search('limit=1&q=conversation%20zoe');
    expect([namesOf(found), found.headers.get('x-total-count')]).toEqual([['first'], '2']);
    expect(found.headers.get('link')).toContain('offset=1');
    expect([namesOf(await search('limit=1&q=zoe&offset=1')), namesOf(await search('limit=5&offset=90'))]).toEqual([
      ['undated'],
      [],
    ]);
  });

  it('counts and finds only what the caller can see', async () => {
    const { member } = place.tokens;
    expect((await search('limit=1', member)).headers.get('x-total-count')).toBe('5');
    expect(namesOf(await search('q=zoe', member))).toEqual(['closed', 'first', 'undated']);
  });

  it('lists deleted conversations to callers with coherence access only', async () => {
    expect(namesOf(await search('deleted=true', editor))).toEqual(['gone']);
    expect(namesOf(await search('deleted=true&q=ada&limit=5', editor))).toEqual(['gone']);
    const denied = await search('deleted=true', place.tokens.member);
    expect([denied.status, denied.json.error]).toEqual([403, 'coherence_access_required']);
  });
});
