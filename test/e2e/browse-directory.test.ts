/** Lookups for public pages: holons with their events, people and holons by id. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let holons: Record<string, number>;
let member = '';
let stranger = '';
const manyIds = Array.from({ length: 51 }, (_, index) => index + 1);

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory'] });
  demo = await applyDemo(platform, 'br');
  const { ids } = await platform.apply({
    classes: [
      {
        slug: 'group',
        label: 'Group',
        config: { info_field_groups: [{ key: 'about', fields: [{ key: 'theme', type: 'text' }] }] },
      },
      { slug: 'closed', label: 'Closed', private: true, conversation_event: true },
    ],
    journeys: [{ slug: 'hosting', name: 'Hosting' }],
    holons: [
      {
        slug: 'host',
        name: 'Host',
        class: 'group',
        description: 'A host',
        links: { web: 'https://example.org' },
        locations: ['AT'],
        infos: { theme: 'x', secret: 'y' },
        journeys: ['journey-br'],
      },
      { slug: 'event-br', parent: 'host', journeys: ['hosting', 'journey-br'] },
      { slug: 'anterior', name: 'Anterior', class: 'event', parent: 'host' },
      { slug: 'branch', name: 'Branch', class: 'group', parent: 'host' },
      { slug: 'deep', name: 'Deep', class: 'event', parent: 'branch' },
      { slug: 'closed-one', name: 'Closed one', class: 'closed', parent: 'host', journeys: ['journey-br'] },
    ],
    people: [{ key: 'cleo', name: 'Cleo' }],
    accounts: [{ email: 'cleo@example.org', person: 'cleo', password: 'secret-of-cleo', teams: [{ holon: 'host' }] }],
  });
  holons = ids['holons'] ?? {};
  member = await platform.login('cleo@example.org', 'secret-of-cleo');
  stranger = await platform.login('ben-br@example.org', 'secret-of-ben-br');
});
afterAll(() => platform.stop());

const get = (path: string, token?: string) =>
  platform.call('GET', `/api/coherence/browse/${path}`, token === undefined ? {} : { token });

describe('GET /browse/holons/{holon_slug} (rules/discovery#browse; D17, D18c, D18f)', () => {
  it('lists immediate child events by name, each with its attached conversation journeys', async () => {
    const answer = await get('holons/host');
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        holon: { id: holons['host'], slug: 'host', name: 'Host', type: 'group' },
        events: [
          {
            id: holons['anterior'],
            slug: 'anterior',
            name: 'Anterior',
            type: 'event',
            journeys: { scope: 'direct', items: [] },
          },
          {
            id: demo.event,
            slug: 'event-br',
            name: 'Event br',
            type: 'event',
            journeys: {
              scope: 'direct',
              items: [
                {
                  id: expect.any(Number),
                  slug: 'journey-br',
                  name: 'Journey br',
                  description: 'A test journey',
                  source: 'direct',
                },
              ],
            },
          },
        ],
      },
    ]);
  });

  it('returns a strong ETag that does not depend on the token, and 304 for a matching ETag', async () => {
    const first = await get('holons/host');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await get('holons/host', stranger)).headers.get('etag')).toBe(etag);
    const again = await platform.call('GET', '/api/coherence/browse/holons/host', {
      headers: { 'if-none-match': etag },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('returns private events to callers who can see them', async () => {
    const events = async (token?: string): Promise<string[]> =>
      (await get('holons/host', token)).json.events.map((event: { slug: string }) => event.slug);
    expect(await events()).not.toContain('closed-one');
    expect(await events(stranger)).not.toContain('closed-one');
    expect(await events(member)).toEqual(['anterior', 'closed-one', 'event-br']);
    expect((await get('holons/closed-one', member)).json).toMatchObject({ holon: { slug: 'closed-one' }, events: [] });
  });

  it.each([['unknown'], ['closed-one']])('returns 404 for browsing %s', async (slug) => {
    const answer = await get(`holons/${slug}`);
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('requires a token, and rejects holon slugs with control characters (D74)', async () => {
    expect((await platform.call('GET', '/api/coherence/browse/holons/host', { token: null })).status).toBe(401);
    expect((await get('holons/host%00')).status).toBe(404);
  });
});

describe('GET /browse/persons (rules/discovery#browse; D18)', () => {
  it('returns each requested person once, and skips unknown ids', async () => {
    const answer = await get(
      `persons?ids=${demo.ada},%20${demo.ada}%20,,0,-1,99999999999999999999,2147483648,${demo.ben}`,
    );
    expect(answer.status).toBe(200);
    expect(answer.json.toSorted((left: { id: number }, right: { id: number }) => left.id - right.id)).toEqual([
      { id: demo.ada, name: 'Ada', photo: null, contact: { email: 'ada-br@example.org' } },
      { id: demo.ben, name: 'Ben', photo: null, contact: { email: 'ben-br@example.org' } },
    ]);
    expect((await get(`persons?ids=${demo.ada}`, stranger)).json).toHaveLength(1);
  });
});

describe('GET /browse/holons (rules/discovery#browse; D18, D18e, D18f)', () => {
  it('returns only the declared infos of the class, locations and spheres of a holon', async () => {
    expect((await get(`holons?ids=${holons['host']}`)).json).toEqual([
      {
        id: holons['host'],
        slug: 'host',
        name: 'Host',
        type: 'group',
        description: 'A host',
        logo: null,
        links: { web: 'https://example.org' },
        infos: { theme: 'x', locations: ['AT'] },
      },
    ]);
  });

  it('skips private holons that the caller cannot see', async () => {
    const query = `holons?ids=${holons['closed-one']},${holons['deep']}`;
    const seen = async (token?: string): Promise<string[]> =>
      (await get(query, token)).json.map((holon: { slug: string }) => holon.slug).toSorted();
    expect([await seen(), await seen(stranger), await seen(member)]).toEqual([
      ['deep'],
      ['deep'],
      ['closed-one', 'deep'],
    ]);
  });
});

describe.each([['persons'], ['holons']])('id list of /browse/%s (D18)', (what) => {
  it.each([
    ['', 'missing'],
    ['?ids=1,x', 'int_parsing'],
    ['?ids=1.5', 'int_parsing'],
    [`?ids=${manyIds.join(',')}`, 'too_long'],
    [`?ids=${manyIds.map(() => 1).join(',')}`, 'too_long'],
  ])('returns an error for a list of ids that is %s', async (query, type) => {
    const answer = await get(`${what}${query}`);
    expect(answer.status).toBe(422);
    expect(answer.json.detail).toMatchObject([{ type, loc: ['query', 'ids'] }]);
  });

  it('accepts a list of no ids, with blanks, or of up to 50 ids', async () => {
    for (const query of ['?ids=', '?ids=%20,%20,', '?ids=0']) expect((await get(`${what}${query}`)).json).toEqual([]);
    expect((await get(`${what}?ids=${manyIds.slice(1).join(',')}`)).status).toBe(200);
    expect((await get(`${what}?ids=${manyIds.slice(1).join(',')},,`)).status).toBe(200);
  });

  it('requires a token for a list of ids', async () => {
    expect((await platform.call('GET', `/api/coherence/browse/${what}?ids=1`, { token: null })).status).toBe(401);
  });
});
