/** API search on the fixture network: ranks, order, limits, and objects that the caller cannot see. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { directory } from '#services/directory';
import { readViewer } from '../../../services/directory/visibility/statements.ts';
import { searchTiers } from '../../../services/directory/search/statements/tiers.ts';
import { searchRare } from '../../../services/directory/search/statements/rare.ts';
import { startReadsFixture, type ReadsFixture } from './reads-fixture.ts';

const { searchDirectory } = directory.rpcs;

let fixture: ReadsFixture;
let db: Database;
beforeAll(async () => {
  fixture = await startReadsFixture(import.meta.url);
  const { env } = fixture;
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'directory', poolSize: 2, logger: env.logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

describe('directory.search.find (rules/people#search; D42)', () => {
  const search = (request: Parameters<typeof fixture.call<typeof searchDirectory>>[1], who = 'stranger') =>
    fixture.call(searchDirectory, request, fixture.actors[who]);
  const shown = (body: Awaited<ReturnType<typeof search>>) =>
    body.items.map((item) => [
      item.kind,
      item.kind === 'person' ? item.person.name : item.holon.name,
      item.score,
      item.matched_field,
    ]);

  beforeAll(async () => {
    const person = (key: string, name: string, more: Record<string, unknown> = {}) => ({ key, name, ...more });
    await fixture.apply({
      people: [
        person('z1', 'Zephyr'),
        person('z2', 'zéphyr'),
        person('z3', 'Zephyrine Dupont'),
        person('z4', 'Bob', { contact: { nick: 'ZEPHYR' } }),
        person('z5', 'Carl', { contact: { email: 'zephyr.carl@example.org' } }),
        person('z6', 'Anna Zephyr'),
        person('z7', 'Dora', { contact: { email: 'dora.zephyr@example.org' } }),
        person('z8', 'Emil Mozephyrski'),
        person('z9', 'Aaron', { description: 'Knows the Zéphyr.' }),
        person('z10', 'Fred', { contact: { web: 'https://mozephyr.example.org' }, description: 'zephyr' }),
      ],
      holons: [
        { slug: 'hz1', name: 'Zephyr', class: 'community' },
        { slug: 'hz2', name: 'House', class: 'community' },
        { slug: 'hz3', name: 'Zephyr council', class: 'inner-circle', parent: 'council' },
        { slug: 'hz4', name: 'About', class: 'community', description: 'A zephyr blows.' },
      ],
    });
    // From a release in which links could be any text.
    await fixture.env.sql(`update directory.holons set links = '{"site": "zephyr"}' where slug = 'hz2'`);
  });

  it('ranks exact matches first, then start, word start, part and description matches, and equal ones by name and id', async () => {
    const body = await search({ q: 'zephyr' });
    expect(shown(body)).toEqual([
      ['person', 'Bob', 1, 'channel'],
      ['holon', 'House', 1, 'channel'],
      ['person', 'Zephyr', 1, 'name'],
      ['person', 'zéphyr', 1, 'name'],
      ['holon', 'Zephyr', 1, 'name'],
      ['person', 'Carl', 0.8, 'channel'],
      ['person', 'Zephyrine Dupont', 0.8, 'name'],
      ['person', 'Anna Zephyr', 0.6, 'name'],
      ['person', 'Dora', 0.6, 'channel'],
      ['person', 'Emil Mozephyrski', 0.4, 'name'],
      ['person', 'Fred', 0.4, 'channel'],
      ['person', 'Aaron', 0.2, 'description'],
      ['holon', 'About', 0.2, 'description'],
    ]);
    expect(body).toMatchObject({ query: 'zephyr', types: ['person', 'holon'], limit_per_type: 20, count: 13 });
    expect(body.items[0]).toMatchObject({
      person: { contact: { nick: 'ZEPHYR' }, created_at: expect.stringMatching(/Z$/) },
    });
  });

  it('ignores case and accents and treats wildcards as literal (D42, D47)', async () => {
    expect(shown(await search({ q: 'ZÉPHYRINE' }))).toEqual([['person', 'Zephyrine Dupont', 0.8, 'name']]);
    for (const q of ['%%', '__', 'z%r', '\\\\']) expect([q, (await search({ q })).count]).toEqual([q, 0]);
  });

  it.each(['ze', 'mo', 'y ', 'yr', 'zq', '@e'])('finds exactly the people and holons that contain %j', async (q) => {
    const body = await search({ q, limit_per_type: 50 });
    const all = await fixture.env.sql<{ kind: string; id: number }>(
      `select 'person' as kind, id from directory.people
       where strpos(directory.fold(name || E'\\n' || directory.channel_text(contact) || E'\\n' || description), $1) > 0
       union all select 'holon', h.id from directory.holons h join directory.object_classes c on c.id = h.class_id and not c.effective_private
       where strpos(directory.fold(h.name || E'\\n' || directory.channel_text(h.links) || E'\\n' || h.description), $1) > 0`,
      [q],
    );
    const keys = (rows: { kind: string; id: number }[]): string[] =>
      rows.map(({ kind, id }) => `${kind} ${id}`).toSorted();
    expect(keys(body.items)).toEqual(keys(all));
  });

  it('returns the best matches of each kind up to the limit, in the same order for every limit', async () => {
    const all = await search({ q: 'ze', limit_per_type: 50 });
    for (const limit of [1, 2, 3, 5, 8]) {
      const body = await search({ q: 'ze', limit_per_type: limit });
      for (const kind of ['person', 'holon']) {
        const of = (items: typeof all.items) =>
          items.filter((item) => item.kind === kind).map(({ id, score }) => [id, score]);
        expect(of(body.items)).toEqual(of(all.items).slice(0, limit));
      }
      expect(body.count).toBe(body.items.length);
    }
  });

  it.each([
    'zephyr',
    'ZÉPHYR',
    'zephyrine',
    'ephyr',
    'mozephyr',
    'ozeph',
    'dora.zephyr',
    '.zephyr',
    'zephyr.',
    'zephyr.carl@example.org',
    'https://mozephyr',
    'anna zephyr',
    'knows the zephyr',
    'zephyr c',
    'council',
    'example.org',
    'example_org',
    'zephyr blew',
  ])('ranks the rare text %j in memory with the same result as the search by tiers', async (q) => {
    for (const who of ['stranger', 'keeper', 'root']) {
      for (const limit of [1, 3, 50]) {
        const asked = { text: q, limit, kinds: ['person', 'holon'], ...readViewer(fixture.actors[who]) };
        const inFew = {
          inManyPeople: false,
          inManyPeopleDescriptions: false,
          inManyHolons: false,
          inManyHolonDescriptions: false,
        };
        const [rare, tiers] = [await searchRare(db, asked), await searchTiers(db, { ...asked, ...inFew })];
        expect(JSON.parse(rare.body)).toEqual(JSON.parse(tiers.body));
      }
    }
  });

  it('accepts a search text of at most 500 characters', async () => {
    const q = 'zephyr'.repeat(84).slice(0, 500);
    expect(await fixture.call(searchDirectory, { q, types: 'person,holon' })).toMatchObject({ count: 0 });
    expect((await fixture.refusal(searchDirectory, { q: `${q}x` })).message).toContain('500 characters');
  });

  it('filters search results by kind', async () => {
    expect((await search({ q: 'zephyr', types: 'holon' })).items.every(({ kind }) => kind === 'holon')).toBe(true);
    expect(await search({ q: 'zephyr', types: 'person, person' })).toMatchObject({ types: ['person'], count: 10 });
    for (const types of ['people', 'person,', '', 'person;holon']) {
      expect([types, (await fixture.refusal(searchDirectory, { q: 'zephyr', types })).code]).toEqual([
        types,
        'bad_request',
      ]);
    }
  });

  it.each([
    ['stranger', false],
    ['former', false],
    ['neighbour', false],
    ['keeper', true],
    ['host', true],
    ['editor', true],
    ['root', true],
  ])('returns a private holon in the search of %s: %s', async (who, visible) => {
    const found = async (q: string) =>
      shown(await search({ q, types: 'holon' }, who)).some((row) => row[1] === 'Zephyr council');
    for (const q of ['zephyr', 'zephyr council', 'council', 'ze', 'phyr co'])
      expect([q, await found(q)]).toEqual([q, visible]);
    expect((await search({ q: 'https://council.example.org' }, who)).count).toBe(visible ? 1 : 0);
  });

  it('finds changed names and contact channels', async () => {
    await fixture.apply({ people: [{ key: 'z4', name: 'Robert', contact: { nick: 'mistral' } }] });
    expect(shown(await search({ q: 'mistral' }))).toEqual([['person', 'Robert', 1, 'channel']]);
    expect(shown(await search({ q: 'zephyr', types: 'person' })).map((row) => row[1])).not.toContain('Robert');
    await fixture.env.sql(`delete from directory.people where key = 'z4'`);
    expect((await search({ q: 'mistral' })).count).toBe(0);
  });
});
