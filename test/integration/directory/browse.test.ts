/** Look-ups and browse: shapes, order, omitted fields, and statement counts. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestContext } from '#libs/infrastructure/nats';
import { superuser } from '#libs/product/testing';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { directory } from '#services/directory';
import { createBrowseHandlers } from '../../../services/directory/browse/handlers.ts';
import { createVisibleHolonHandlers } from '../../../services/directory/holons/handlers/holons.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { browseHolon, listConversationEvents, listEventJourneys, lookUpHolons, lookUpPeople } = directory.rpcs;
const many = 200;
const numbers = Array.from({ length: many }, (_, index) => index);

let fixture: DirectoryFixture;
let db: Database;
let ids: Record<string, Record<string, number>>;
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  ({ ids } = await fixture.apply({
    spheres: [{ key: 'health', name: 'Health' }],
    classes: [
      { slug: 'group', label: 'Group' },
      {
        slug: 'event',
        label: 'Event',
        conversation_event: true,
        config: {
          info_field_groups: [
            {
              key: 'about',
              fields: [
                { key: 'theme', type: 'text' },
                { key: 'empty', type: 'text' },
              ],
            },
            { key: 'bare' },
          ],
        },
      },
      { slug: 'odd', label: 'Odd', config: { info_field_groups: null } },
      { slug: 'closed', label: 'Closed', conversation_event: true, private: true },
    ],
    journeys: [
      ...['talk', 'circle', 'empty'].map((slug) => ({
        slug,
        name: slug,
        description: `About ${slug}`,
        is_conversation: true,
      })),
      { slug: 'hosting', name: 'Hosting' },
    ],
    people: [
      {
        key: 'ada',
        name: 'Ada',
        contact: { email: 'a@example.org' },
        photo_url: 'https://example.org/a.png',
        infos: { private: 1 },
        description: 'd',
      },
      ...numbers.map((index) => ({ key: `p${index}`, name: `Person ${index}` })),
    ],
    holons: [
      { slug: 'host', name: 'Host', class: 'group', journeys: ['circle'] },
      { slug: 'zeta', name: 'Alpha', class: 'event', parent: 'host', journeys: ['talk', 'hosting', 'circle'] },
      { slug: 'twin', name: 'Alpha', class: 'event', parent: 'host' },
      { slug: 'beta', name: 'Beta', class: 'event', parent: 'host', journeys: ['circle', 'talk'] },
      { slug: 'branch', name: 'Branch', class: 'group', parent: 'host', journeys: ['talk'] },
      { slug: 'deep', name: 'Deep', class: 'event', parent: 'branch', journeys: ['talk'] },
      { slug: 'below', name: 'Below', class: 'event', parent: 'beta', journeys: ['talk'] },
      { slug: 'hidden', name: 'Hidden', class: 'closed', parent: 'host' },
      {
        slug: 'told',
        name: 'Told',
        class: 'event',
        description: 'd',
        links: { web: 'https://example.org' },
        locations: ['AT'],
        spheres: ['health'],
        infos: { theme: 'x', secret: 'y', about: { theme: 'z' }, private: true },
      },
      { slug: 'odd', name: 'Odd', class: 'odd', infos: { theme: 'x' } },
      { slug: 'crowd', name: 'Crowd', class: 'group' },
      ...numbers.map((index) => ({
        slug: `c${index}`,
        name: `Child ${index}`,
        class: 'event',
        parent: 'crowd',
        journeys: ['talk', 'circle'],
      })),
    ],
  }));
  const { env } = fixture;
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'directory', poolSize: 2, logger: env.logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

describe('directory.browse.holon (rules/discovery#browse; D18c)', () => {
  it('returns the direct child events of a holon by name and id, each with its directly attached conversation journeys in order', async () => {
    const item = (slug: string) => ({
      id: idOf('journeys', slug),
      slug,
      name: slug,
      description: `About ${slug}`,
      source: 'direct',
    });
    const event = (slug: string, name: string, journeys: string[]) => ({
      id: idOf('holons', slug),
      slug,
      name,
      type: 'event',
      journeys: { scope: 'direct', items: journeys.map(item) },
    });
    await expect(fixture.call(browseHolon, { holon_slug: 'host' }, { kind: 'shared' })).resolves.toEqual({
      holon: { id: idOf('holons', 'host'), slug: 'host', name: 'Host', type: 'group' },
      events: [
        event('zeta', 'Alpha', ['talk', 'circle']),
        event('twin', 'Alpha', []),
        event('beta', 'Beta', ['circle', 'talk']),
      ],
    });
    await expect(fixture.call(browseHolon, { holon_slug: 'twin' })).resolves.toMatchObject({ events: [] });
    expect(await fixture.refusal(browseHolon, { holon_slug: 'unknown' })).toMatchObject({
      code: 'not_found',
      message: 'Not Found',
    });
  });
});

describe('directory.events.list and list-journeys (D10, D11)', () => {
  it('lists the events at and below a holon by name and id, each with its parent', async () => {
    const events = await fixture.call(
      listConversationEvents,
      { holon_slug: 'host' },
      {
        ...superuser,
        superuser: false,
        globalEditor: false,
      },
    );
    expect(events.map(({ slug, parent_slug: parent }) => [slug, parent])).toEqual([
      ['zeta', 'host'],
      ['twin', 'host'],
      ['below', 'beta'],
      ['beta', 'host'],
      ['deep', 'branch'],
    ]);
    expect((await fixture.call(listConversationEvents, { holon_slug: 'beta' })).map(({ slug }) => slug)).toEqual([
      'below',
      'beta',
    ]);
    expect(await fixture.call(listConversationEvents, { holon_slug: 'odd' })).toEqual([]);
    expect(await fixture.refusal(listConversationEvents, { holon_slug: '' })).toMatchObject({ code: 'not_found' });
    expect(await fixture.call(listConversationEvents, {})).toHaveLength(many + 7);
  });

  it('lists the conversation journeys of an event in order, and returns 404 for a holon that is not an event', async () => {
    const journeys = await fixture.call(listEventJourneys, { event_slug: 'beta' });
    const entry = (slug: string) => ({
      id: idOf('journeys', slug),
      slug,
      name: slug,
      description: `About ${slug}`,
      step_count: 0,
    });
    expect(journeys).toEqual([entry('circle'), entry('talk')]);
    expect(await fixture.refusal(listEventJourneys, { event_slug: 'host' })).toMatchObject({ code: 'not_found' });
    expect(await fixture.call(listEventJourneys, { event_slug: 'twin' })).toEqual([]);
  });
});

describe('directory.people.look-up and holons.look-up (D18, D18e)', () => {
  it('returns the public fields of each requested person once, and skips unknown ids', async () => {
    const ada = idOf('people', 'ada');
    await expect(fixture.call(lookUpPeople, { ids: [ada, 0, -5, 2_000_000_000, ada] })).resolves.toEqual([
      { id: ada, name: 'Ada', photo: 'https://example.org/a.png', contact: { email: 'a@example.org' } },
    ]);
    await expect(fixture.call(lookUpPeople, { ids: [] })).resolves.toEqual([]);
  });

  it('returns only declared info fields, locations and spheres of a holon', async () => {
    const [told, odd] = [idOf('holons', 'told'), idOf('holons', 'odd')];
    const holons = await fixture.call(lookUpHolons, { ids: [told, odd, 0] }, { kind: 'shared' });
    expect(holons).toEqual([
      {
        id: told,
        slug: 'told',
        name: 'Told',
        type: 'event',
        description: 'd',
        logo: null,
        links: { web: 'https://example.org' },
        infos: { theme: 'x', locations: ['AT'], spheres: [idOf('spheres', 'health')] },
      },
      { id: odd, slug: 'odd', name: 'Odd', type: 'odd', description: '', logo: null, links: {}, infos: {} },
    ]);
  });
});

describe('statements of directory reads', () => {
  it('reads with one statement, independent of the number of rows', async () => {
    let statements = 0;
    const counting: Database = Object.assign(Object.create(db) as Database, {
      query: (...call: Parameters<Database['query']>) => {
        statements++;
        return db.query(...call);
      },
    });
    const handlers = { ...createBrowseHandlers({ db: counting }), ...createVisibleHolonHandlers({ db: counting }) };
    const context = { actor: { kind: 'shared' } } as RequestContext;
    const fifty = numbers.slice(0, 50);
    const reads = [
      () => handlers.browseHolon({ holon_slug: 'twin' }, context),
      () => handlers.browseHolon({ holon_slug: 'crowd' }, context),
      () => handlers.listConversationEvents({ holon_slug: 'twin' }, context),
      () => handlers.listConversationEvents({ holon_slug: 'crowd' }, context),
      () => handlers.listConversationEvents({}, context),
      () => handlers.lookUpPeople({ ids: fifty.map((index) => idOf('people', `p${index}`)) }, context),
      () => handlers.lookUpHolons({ ids: fifty.map((index) => idOf('holons', `c${index}`)) }, context),
      () => handlers.holonSubtree({ slug: 'crowd' }, context),
      () =>
        handlers.visibleHolons({ account_id: 1, ids: numbers.map((index) => idOf('holons', `c${index}`)) }, context),
    ];
    for (const read of reads) {
      statements = 0;
      await read();
      expect(statements).toBe(1);
    }
  });
});
