import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prepareDiscovery } from './discovery-data.ts';
import type { Place } from './discovery-data.ts';
import { startTestPlatform } from './test-platform.ts';
import type { Answer, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let place: Place;
const made: Record<string, number> = {};
const envelope = (value: unknown): unknown => ({ value, provenance: { by: 'model' } });
const publishing = {
  fields: {
    title: envelope('A title'),
    summary: envelope('Short'),
    videohost_description: 'Long',
    nested: { provenance: 1, kept: [envelope(2)] },
  },
  records: { videohost: { url: 'https://video.example.org/1', thumbnail: 'host.png', provenance: 'x' } },
  artifacts: { imported_thumbnails: envelope(['one.png', 'two.png']) },
  drafts: { secret: 1 },
};

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  place = await prepareDiscovery(platform, 'bro');
  const { ada } = place.demo;
  made['owned'] = await place.put({
    event: 'alpha',
    journey: 'talk-a',
    start: '2026-05-01T10:00:00Z',
    participants: [ada],
    connected: ['alpha', 'secret'],
    infos: { publishing, private: 1 },
  });
  made['linked'] = await place.put({
    event: 'beta',
    journey: 'talk-a',
    start: '2026-05-02T10:00:00Z',
    connected: ['alpha'],
  });
  made['tie'] = await place.put({ journey: 'talk-a', start: '2026-05-01T10:00:00Z', connected: ['alpha'] });
  made['undated'] = await place.put({
    event: 'alpha',
    journey: 'talk-a',
    infos: { publishing: { fields: { title: '  ' }, records: { videohost: { thumbnail: 'host.png' } } } },
  });
  made['free'] = await place.put({ journey: 'talk-a', start: '2026-01-01T00:00:00.5Z' });
  made['foreign'] = await place.put({ event: 'alpha', journey: 'talk-c', start: '2026-05-01T10:00:00Z' });
  made['closed'] = await place.put({
    event: 'closed',
    journey: 'talk-a',
    start: '2026-06-01T00:00:00Z',
    connected: ['alpha'],
  });
});
afterAll(() => platform.stop());

const browse = (path: string, token: string | null = platform.sharedToken): Promise<Answer> =>
  platform.call('GET', `/api/coherence/browse/${path}`, { token });
const idsOf = (items: { id: number }[]): number[] => items.map((item) => item.id);
const ids = (...names: string[]): (number | undefined)[] => names.map((name) => made[name]);

describe('GET /browse/conversations (rules/discovery#browse; D17, D18c, D28)', () => {
  it('lists the conversations of a journey, with or without a holon, newest start first, those without a start last, then by id', async () => {
    const answer = await browse('conversations?journey_slug=talk-a');
    expect([answer.status, answer.json.journey]).toEqual([
      200,
      { id: place.journeys['talk-a'], slug: 'talk-a', name: 'Talk A', description: 'First', texts: { welcome: 'Hi' } },
    ]);
    expect(idsOf(answer.json.conversations)).toEqual(ids('linked', 'owned', 'tie', 'free', 'undated'));
    expect((await browse(`conversations?journey_id=${place.journeys['talk-a']}`)).json).toEqual(answer.json);
  });

  it('lists conversations owned by or linked to the event of `holon_slug`', async () => {
    const found = async (slug: string): Promise<number[]> =>
      idsOf((await browse(`conversations?journey_slug=talk-a&holon_slug=${slug}`)).json.conversations);
    expect([await found('alpha'), await found('beta')]).toEqual([
      ids('linked', 'owned', 'tie', 'undated'),
      ids('linked'),
    ]);
  });

  it('returns an empty list for a holon that is not an event, and for an event without conversations', async () => {
    for (const slug of ['guild', 'bare']) {
      const answer = await browse(`conversations?journey_slug=talk-a&holon_slug=${slug}`);
      expect([answer.status, answer.json.conversations]).toEqual([200, []]);
    }
    expect((await browse('conversations?journey_slug=talk-b')).json).toEqual({
      journey: { id: place.journeys['talk-b'], slug: 'talk-b', name: 'Talk B', description: '', texts: {} },
      conversations: [],
    });
  });

  it.each(['', '?holon_slug=alpha', '?journey_slug=talk-a&journey_id=1', '?journey_slug=nowhere&journey_id=999999'])(
    'returns 400 for %j, because exactly one parameter is required',
    async (query) => {
      const answer = await browse(`conversations${query}`);
      expect([answer.status, answer.json]).toEqual([400, { detail: expect.stringMatching(/exactly one/i) }]);
    },
  );

  it.each([
    'journey_slug=nowhere',
    'journey_slug=',
    'journey_slug=chores',
    'journey_id=999999',
    'journey_id=0',
    'journey_slug=talk-a&holon_slug=nowhere',
    'journey_slug=talk-a&holon_slug=',
  ])('returns 404 for the conversations of %s', async (query) => {
    const answer = await browse(`conversations?${query}`);
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('returns 422 for a journey_id that is not an integer', async () => {
    const answer = await browse('conversations?journey_id=x');
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['query', 'journey_id']]);
  });
});

describe('PublicConversation (rules/discovery#publicconversation; D18a, D18b)', () => {
  const find = async (name: string) =>
    (await browse('conversations?journey_slug=talk-a')).json.conversations.find(
      (item: { id: number }) => item.id === made[name],
    );

  it('returns the three publishing groups without provenance, and never infos or config', async () => {
    const item = await find('owned');
    expect(item).toEqual({
      id: made['owned'],
      title: 'A title',
      start: '2026-05-01T10:00:00Z',
      finish: null,
      step: { slug: 'held', title: 'Held' },
      participants: [{ id: place.demo.ada, name: 'Ada', photo: null, contact: { email: 'ada-bro@example.org' } }],
      connected: [{ id: place.holons['alpha'], slug: 'alpha', name: 'Zeta', type: 'event' }],
      publishing: {
        fields: { title: 'A title', summary: 'Short', videohost_description: 'Long', nested: { kept: [2] } },
        records: { videohost: { url: 'https://video.example.org/1', thumbnail: 'host.png' } },
        artifacts: { imported_thumbnails: ['one.png', 'two.png'] },
      },
      public: { summary: 'Short', thumbnail: 'one.png', videohost_description: 'Long' },
    });
  });

  it('derives the title from date and id when it is unset, and uses the thumbnail of the video host when there is no other', async () => {
    expect(await find('free')).toMatchObject({
      title: 'Conversation of 2026-01-01',
      start: '2026-01-01T00:00:00.500000Z',
      publishing: { fields: {}, records: {}, artifacts: {} },
      public: { summary: '', thumbnail: null, videohost_description: null },
    });
    expect(await find('undated')).toMatchObject({
      title: `Conversation ${made['undated']}`,
      public: { thumbnail: 'host.png' },
    });
  });
});

describe('GET /browse/holons/{holon_slug}/conversations (rules/discovery#browse; D18c, D28)', () => {
  it('groups conversations by immediate child event and attached conversation journey', async () => {
    const answer = await browse('holons/guild/conversations');
    expect(answer.status).toBe(200);
    expect(answer.json.holon).toEqual({ id: place.holons['guild'], slug: 'guild', name: 'Guild', type: 'group' });
    const shape = answer.json.events.map((event: any) => [
      event.slug,
      event.journeys.map((group: any) => [group.journey.slug, idsOf(group.conversations)]),
    ]);
    expect(shape).toEqual([
      ['bare', []],
      [
        'alpha',
        [
          ['talk-b', []],
          ['talk-a', ids('linked', 'owned', 'tie', 'undated')],
        ],
      ],
    ]);
    expect(Object.keys(answer.json.events[0]).toSorted()).toEqual(['id', 'journeys', 'name', 'slug', 'type']);
  });

  it('includes only immediate child events, and returns no groups for an event without children', async () => {
    expect(
      (await browse('holons/circle/conversations')).json.events.map((event: { slug: string }) => event.slug),
    ).toEqual(['beta']);
    expect((await browse('holons/alpha/conversations')).json.events).toEqual([]);
  });

  it('returns 404 for the conversations of an unknown holon', async () => {
    expect((await browse('holons/nowhere/conversations')).json).toEqual({ detail: 'Not Found' });
  });
});

describe('browse of private holons (D18f)', () => {
  const events = async (token: string): Promise<string[]> =>
    (await browse('holons/guild/conversations', token)).json.events.map((event: { slug: string }) => event.slug);

  it('returns a private event and its conversations to callers who can see it, and never to the shared token', async () => {
    expect([
      await events(platform.sharedToken),
      await events(place.tokens.stranger),
      await events(place.tokens.member),
    ]).toEqual([
      ['bare', 'alpha'],
      ['bare', 'alpha'],
      ['bare', 'closed', 'alpha'],
    ]);
    const listed = async (token: string): Promise<number[]> =>
      idsOf((await browse('conversations?journey_slug=talk-a', token)).json.conversations);
    expect([
      (await listed(platform.sharedToken)).includes(made['closed'] ?? 0),
      (await listed(place.tokens.member))[0],
    ]).toEqual([false, made['closed']]);
    expect((await browse('conversations?journey_slug=talk-a&holon_slug=closed')).status).toBe(404);
    expect((await browse('holons/secret/conversations')).status).toBe(404);
    expect((await browse('holons/secret/conversations', place.tokens.root)).json.events).toEqual([]);
  });
});

describe('browse, credentials (rules/access#classes-of-routes)', () => {
  it('requires a token for all browse routes', async () => {
    for (const path of ['conversations?journey_slug=talk-a', 'holons/guild/conversations'])
      expect((await browse(path, null)).status).toBe(401);
  });
});
