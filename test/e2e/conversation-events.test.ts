/** Conversation events and their journeys over the API; visibility of private ones. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let ids: Record<string, Record<string, number>>;
/** Ada has coherence access but no team, Cleo a team at `vault`, Root is a superuser, Ben has no rights. */
const tokens: Record<string, string> = {};
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory'] });
  demo = await applyDemo(platform, 'ev');
  ({ ids } = await platform.apply({
    classes: [
      { slug: 'group', label: 'Group' },
      { slug: 'closed', label: 'Closed', private: true },
      { slug: 'closed-event', label: 'Closed event', parent: 'closed', conversation_event: true },
    ],
    journeys: [
      {
        slug: 'second',
        name: 'Second',
        is_conversation: true,
        steps: [{ slug: 'a' }, { slug: 'b' }, { slug: 'c', is_archived: true }],
      },
      { slug: 'hosting', name: 'Hosting' },
    ],
    holons: [
      { slug: 'host', name: 'Host', class: 'group' },
      { slug: 'autumn', name: 'Autumn', class: 'event', parent: 'host', journeys: ['second', 'hosting', 'journey-ev'] },
      { slug: 'room', name: 'Room', class: 'group', parent: 'host' },
      { slug: 'inner', name: 'Inner', class: 'event', parent: 'room' },
      { slug: 'vault', name: 'Vault', class: 'closed', parent: 'host' },
      { slug: 'secret', name: 'A secret', class: 'closed-event', parent: 'vault', journeys: ['second'] },
      { slug: 'open-secret', name: 'Open secret', class: 'event', parent: 'vault' },
    ],
    people: [{ key: 'cleo', name: 'Cleo' }],
    accounts: [
      {
        email: 'cleo@example.org',
        person: 'cleo',
        password: 'secret-of-cleo',
        groups: ['coherence_users'],
        teams: [{ holon: 'vault' }],
      },
    ],
  }));
  for (const name of ['ada', 'ben', 'root'])
    tokens[name] = await platform.login(`${name}-ev@example.org`, `secret-of-${name}-ev`);
  tokens['cleo'] = await platform.login('cleo@example.org', 'secret-of-cleo');
});
afterAll(() => platform.stop());

const list = (who: string, query = '') =>
  platform.call('GET', `/api/coherence/conversation-events${query}`, { token: tokens[who] ?? '' });
const journeysOf = (who: string, slug: string) =>
  platform.call('GET', `/api/coherence/conversation-events/${slug}/journeys`, { token: tokens[who] ?? '' });
const slugs = (answer: { json: any }): string[] => answer.json.map((item: { slug: string }) => item.slug);

describe('GET /conversation-events (rules/discovery#conversation-events; D10, D18f, D18g)', () => {
  it('lists every conversation event by name and id with its parent', async () => {
    const answer = await list('ben');
    expect(answer.status).toBe(200);
    expect(slugs(answer)).toEqual(['autumn', 'event-ev', 'inner', 'open-secret']);
    expect(answer.json[0]).toEqual({
      id: ids['holons']?.['autumn'],
      slug: 'autumn',
      name: 'Autumn',
      type: 'event',
      parent_id: ids['holons']?.['host'],
      parent_slug: 'host',
    });
    expect(answer.json[1]).toMatchObject({ id: demo.event, parent_id: null, parent_slug: null });
  });

  it('lists for `holon_slug` the holon and all its descendants, or only an event without children', async () => {
    expect(slugs(await list('ben', '?holon_slug=host'))).toEqual(['autumn', 'inner', 'open-secret']);
    expect(slugs(await list('ben', '?holon_slug=room'))).toEqual(['inner']);
    expect(slugs(await list('ben', '?holon_slug=inner'))).toEqual(['inner']);
    expect((await list('ben', '?holon_slug=event-ev&unknown=1')).json).toHaveLength(1);
  });

  it.each([['unknown'], [''], ['vault'], ['secret']])(
    'returns 404 for holon_slug=%s in conversation events',
    async (slug) => {
      const answer = await list('ada', `?holon_slug=${slug}`);
      expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
    },
  );

  it('returns private events and private parents to callers who can see them', async () => {
    for (const who of ['cleo', 'root']) {
      expect(slugs(await list(who, '?holon_slug=vault'))).toEqual(['secret', 'open-secret']);
      expect(slugs(await list(who))).toContain('secret');
    }
    const find = async (who: string) =>
      (await list(who)).json.find((item: { slug: string }) => item.slug === 'open-secret');
    expect(await find('cleo')).toMatchObject({ parent_slug: 'vault' });
    expect(await find('ada')).toMatchObject({ parent_id: null, parent_slug: null });
  });

  it('rejects a holon slug with U+0000', async () => {
    const answer = await list('ben', '?holon_slug=a%00');
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['query', 'holon_slug']]);
  });

  it('requires a per-user token for conversation events (D12)', async () => {
    const shared = await platform.call('GET', '/api/coherence/conversation-events');
    expect([shared.status, shared.json.error]).toEqual([403, 'per_user_token_required']);
    expect((await platform.call('GET', '/api/coherence/conversation-events', { token: null })).status).toBe(401);
  });
});

describe('GET /conversation-events/{event_slug}/journeys (rules/discovery#conversation-events; D11)', () => {
  it('lists conversation journeys in order of attachment, and counts only active steps', async () => {
    const answer = await journeysOf('ada', 'autumn');
    expect([answer.status, answer.json]).toEqual([
      200,
      [
        { id: ids['journeys']?.['second'], slug: 'second', name: 'Second', description: '', step_count: 2 },
        {
          id: expect.any(Number),
          slug: 'journey-ev',
          name: 'Journey ev',
          description: 'A test journey',
          step_count: 3,
        },
      ],
    ]);
    expect((await journeysOf('ada', 'inner')).json).toEqual([]);
  });

  it.each([['unknown'], ['host'], ['secret']])('returns 404 for the journeys of the event %s', async (slug) => {
    const answer = await journeysOf('ada', slug);
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('returns the journeys of a private event to members of its team', async () => {
    expect(slugs(await journeysOf('cleo', 'secret'))).toEqual(['second']);
  });

  it('requires coherence access (D12, D13)', async () => {
    const message = expect.any(String);
    const ben = await journeysOf('ben', 'autumn');
    expect([ben.status, ben.json]).toEqual([403, { detail: message, error: 'coherence_access_required', message }]);
    const shared = await platform.call('GET', '/api/coherence/conversation-events/autumn/journeys');
    expect([shared.status, shared.json]).toEqual([403, { detail: message, error: 'per_user_token_required', message }]);
    expect(
      (await platform.call('GET', '/api/coherence/conversation-events/autumn/journeys', { token: null })).status,
    ).toBe(401);
    expect((await journeysOf('root', 'autumn')).status).toBe(200);
    expect((await journeysOf('ada', 'autumn%00')).status).toBe(404);
  });
});
