/** Reads of the open API over the network of the fixture: shapes, filters, order, counts, ranks, and what a caller may not see. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { Actor } from '#libs/contract';
import { directory } from '#services/directory';
import { joinUsageCounts } from '../../../services/directory/repositories/v1/journeys.ts';
import { createWorld, type World } from './world.ts';

const { searchDirectory, listPeople, getPerson, listHolons, getHolon, getHolonBySlug, listClasses, getClass, listJourneys, getJourney } =
  directory.rpcs;

let world: World;
let ids: Record<string, Record<string, number>>;
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;
const actors: Record<string, Actor> = {};
const slugs = (body: { items: { slug: string }[] }): string[] => body.items.map(({ slug }) => slug);
const names = (body: { items: { name: string }[] }): string[] => body.items.map(({ name }) => name);

beforeAll(async () => {
  world = await createWorld(import.meta.url);
  const file = join(import.meta.dirname, '..', '..', 'fixtures', 'v1-network.yaml');
  ({ ids } = await world.apply(parse(readFileSync(file, 'utf8'))));
  for (const [email, accountId] of Object.entries(ids['accounts'] ?? {})) {
    const name = email.split('@')[0] ?? '';
    actors[name] = {
      kind: 'user',
      accountId,
      personId: idOf('people', name),
      superuser: name === 'root',
      globalEditor: name === 'editor',
      coherenceAccess: false,
    };
  }
});
afterAll(() => world.stop());

describe('directory.people.list (spec 02, GET /people; D41, D47)', () => {
  const list = (request: Parameters<typeof world.call<typeof listPeople>>[1]) => world.call(listPeople, request, actors['stranger']);

  it('finds a part of the name without case and accents, and shows every public field with timestamps', async () => {
    const body = await list({ q: 'FRANÇOIS LEF' });
    expect(body).toEqual({
      query: 'FRANÇOIS LEF',
      limit: 100,
      offset: 0,
      count: 1,
      has_more: false,
      items: [
        {
          id: idOf('people', 'francois'),
          name: 'François Lefèvre',
          description: '',
          photo_url: null,
          actor_kind: 'human',
          contact: { email: 'fl@example.org' },
          created_at: expect.stringMatching(/Z$/),
          updated_at: expect.stringMatching(/Z$/),
        },
      ],
    });
    expect(names(await list({ q: 'lefevre' }))).toEqual(['François Lefèvre']);
  });

  it('looks at the name alone, and takes wildcards as they are', async () => {
    expect((await list({ q: 'hana@example.org' })).count).toBe(0);
    expect((await list({ q: 'programmes' })).count).toBe(0);
    for (const q of ['%', '_', '%%%', 'a_a', '\\']) expect([q, (await list({ q })).count]).toEqual([q, 0]);
  });

  it.each(['e', 'ki', 'kim', ''])('counts all matches of %j and pages through them once each', async (q) => {
    const all = await list({ q });
    expect(all.count).toBe(all.items.length);
    expect(names(all)).toEqual(names(all).toSorted());
    const seen: string[] = [];
    for (let offset = 0, more = true; more; offset += 2) {
      const page = await list({ q, limit: 2, offset });
      seen.push(...names(page));
      expect(page.count).toBe(all.count);
      more = page.has_more;
    }
    expect(seen).toEqual(names(all));
  });

  it('orders by creation and change, last first, the id between equals, and filters strictly after', async () => {
    const [moment, later] = ['2026-01-01T10:00:00.000001Z', '2026-01-02T00:00:00Z'];
    await world.env.sql(`update directory.people set created_at = $1, updated_at = $2`, [moment, later]);
    await world.env.sql(`update directory.people set created_at = $1, updated_at = $2 where key = 'ada'`, [later, '2026-01-03T00:00:00Z']);
    const latest = await list({ q: '', sort: 'latest' });
    expect(names(latest)[0]).toBe('Ada Lovelace');
    const rest = latest.items.slice(1).map(({ id }) => id);
    expect(rest).toEqual(rest.toSorted((left, right) => left - right));
    expect(names(await list({ q: '', sort: 'updated' }))[0]).toBe('Ada Lovelace');
    expect(names(await list({ q: '', created_after: moment }))).toEqual(['Ada Lovelace']);
    expect((await list({ q: '', created_after: '2026-01-01T10:00:00Z' })).count).toBe(latest.count);
    expect(names(await list({ q: '', updated_after: '2026-01-02T00:00:00' }))).toEqual(['Ada Lovelace']);
    expect((await list({ q: '', updated_after: '2026-01-02T02:00:00+02:00' })).count).toBe(1);
  });

  it('refuses an unknown order', async () => {
    expect(await world.refusal(listPeople, { q: 'a', sort: 'created' })).toMatchObject({ code: 'bad_request' });
  });
});

describe('directory.people.get (spec 02, GET /people/{person_id})', () => {
  it('shows the person without timestamps, and 404 to an id that nobody has', async () => {
    expect(await world.call(getPerson, { person_id: idOf('people', 'scribe') }, actors['stranger'])).toEqual({
      id: idOf('people', 'scribe'),
      name: 'Scribe',
      description: '',
      photo_url: null,
      actor_kind: 'agent',
      contact: {},
    });
    expect(await world.refusal(getPerson, { person_id: 2_000_000_000 })).toMatchObject({ code: 'not_found' });
  });
});

describe('directory.holons.list (spec 02, GET /holons; D47a, D48)', () => {
  const list = (request: Parameters<typeof world.call<typeof listHolons>>[1], who = 'stranger') =>
    world.call(listHolons, request, actors[who]);

  it('searches name and description, without case and accents', async () => {
    expect(slugs(await list({ q: 'VILLAGE' }))).toEqual(['kitchen', 'village']);
    expect(slugs(await list({ q: 'örk' }))).toEqual(['bread']);
    for (const q of ['%', '__', '%it%']) expect([q, (await list({ q })).count]).toEqual([q, 0]);
  });

  it('covers the whole subtree of a class, holons of retired descendants too', async () => {
    expect(await list({ class: 'community' })).toMatchObject({ query: null, class: 'community', parent: null, count: 4, has_more: false });
    expect(slugs(await list({ class: 'community' }))).toEqual(['attic', 'harbour', 'kitchen', 'village']);
    expect(slugs(await list({ class: 'experience' }))).toEqual(['bread']);
    expect(slugs(await list({ class: 'community', q: 'e' }))).toEqual(['kitchen', 'village']);
  });

  it.each(['newsletter', 'old-circle', 'unknown', ''])('refuses the class %j, which is no active one', async (slug) => {
    expect(await world.refusal(listHolons, { class: slug })).toMatchObject({ code: 'bad_request' });
    expect(await world.refusal(listHolons, { class: slug, q: 'a' })).toMatchObject({ code: 'bad_request' });
  });

  it('needs q or class, and a known order', async () => {
    expect(await world.refusal(listHolons, {})).toMatchObject({ code: 'bad_request' });
    expect(await world.refusal(listHolons, { parent: 1 })).toMatchObject({ code: 'bad_request' });
    expect(await world.refusal(listHolons, { q: 'a', sort: 'id' })).toMatchObject({ code: 'bad_request' });
  });

  it('narrows to the children of a holon; an unknown or invisible one has none', async () => {
    expect(slugs(await list({ q: '', parent: idOf('holons', 'commons') }))).toEqual(['camp', 'village']);
    expect(slugs(await list({ q: '', parent: idOf('holons', 'commons') }, 'host'))).toEqual(['cellar', 'camp', 'village']);
    expect(await list({ q: '', parent: 0 })).toMatchObject({ parent: 0, count: 0, items: [] });
    expect((await list({ q: '', parent: idOf('holons', 'council') })).count).toBe(0);
    expect(slugs(await list({ q: '', parent: idOf('holons', 'council') }, 'keeper'))).toEqual(['core', 'open-house']);
  });

  it.each([
    ['stranger', []],
    ['former', []],
    ['neighbour', ['vault']],
    ['keeper', ['core', 'council']],
    ['host', ['cellar', 'core', 'council']],
    ['editor', ['cellar', 'core', 'council', 'vault']],
    ['root', ['cellar', 'core', 'council', 'vault']],
  ])('shows and counts private holons to %s as far as the authority goes', async (who, seen) => {
    for (const request of [
      { class: 'inner-circle' },
      { class: 'inner-circle', q: 'co' },
      { class: 'inner-circle', created_after: '2020-01-01T00:00:00Z' },
    ]) {
      const body = await list(request, who);
      expect([request, body.count, slugs(body).toSorted()]).toEqual([request, seen.length, seen]);
    }
    expect((await list({ class: 'community' }, who)).count).toBe(4 + seen.length);
    expect((await list({ q: 'council', limit: 1 }, who)).count).toBe(seen.length);
  });

  it('counts anew when holons come, go and change their class', async () => {
    const count = async () => (await list({ class: 'domain' })).count;
    const before = await count();
    await world.apply({ holons: [{ slug: 'mining', name: 'Mining', class: 'domain' }] });
    expect(await count()).toBe(before + 1);
    await world.env.sql(joinUsageCounts.text);
    expect(await count()).toBe(before + 1);
    await world.apply({ holons: [{ slug: 'mining', class: 'gathering' }] });
    expect(await count()).toBe(before);
    await world.env.sql(`delete from directory.holons where slug = 'mining'`);
    expect((await list({ class: 'gathering' }, 'root')).count).toBe(slugs(await list({ class: 'gathering' }, 'root')).length);
  });
});

describe('directory.holons.get and get-by-slug (spec 02, GET /holons/{holon_id}; D48)', () => {
  it('shows the class slug as type, retired ones too, and names the parent to those who may see it', async () => {
    expect(await world.call(getHolonBySlug, { slug: 'letter' }, actors['stranger'])).toEqual({
      id: idOf('holons', 'letter'),
      name: 'Letter',
      slug: 'letter',
      type: 'newsletter',
      description: '',
      parent_id: null,
      logo_url: null,
      links: {},
    });
    const [council, house] = [idOf('holons', 'council'), idOf('holons', 'open-house')];
    expect(await world.call(getHolon, { holon_id: house }, actors['stranger'])).toMatchObject({ type: 'gathering', parent_id: null });
    expect(await world.call(getHolon, { holon_id: house }, actors['keeper'])).toMatchObject({ parent_id: council });
  });

  it.each(['stranger', 'former', 'neighbour'])('answers %s as if a private holon did not exist', async (who) => {
    const absent = await world.refusal(getHolonBySlug, { slug: 'nothing' }, actors[who]);
    for (const slug of ['council', 'core', 'cellar']) {
      expect((await world.refusal(getHolonBySlug, { slug }, actors[who])).toBody()).toEqual(absent.toBody());
      expect((await world.refusal(getHolon, { holon_id: idOf('holons', slug) }, actors[who])).toBody()).toEqual(absent.toBody());
    }
  });
});

describe('directory.classes.list and get (spec 02, GET /classes; D48)', () => {
  const catalogue = (body: { journeys: { slug: string }[] }): string[] => body.journeys.map(({ slug }) => slug);

  it('lists active classes in order, those of one kind when asked', async () => {
    const all = await world.call(listClasses, {});
    expect(all.map(({ slug }) => slug)).toEqual([
      'topic',
      'organisation',
      'community',
      'circle',
      'inner-circle',
      'core-circle',
      'gathering',
      'experience',
      'workshop',
      'domain',
    ]);
    expect(all.every((entry) => entry.is_active)).toBe(true);
    expect((await world.call(listClasses, { object_kind: 'person' })).map(({ slug }) => slug)).toEqual(['topic']);
    expect(await world.call(listClasses, { object_kind: 'nothing' })).toEqual([]);
  });

  it('joins its own journeys and the inherited ones in catalogue order, once each', async () => {
    const get = (slug: string) => world.call(getClass, { object_kind: 'holon', slug });
    expect(catalogue(await get('community'))).toEqual(['membership', 'participation', 'contact']);
    expect(catalogue(await get('circle'))).toEqual(['rotation', 'participation', 'membership', 'contact']);
    expect(catalogue(await get('core-circle'))).toEqual(['rotation', 'participation', 'membership', 'contact']);
    expect(catalogue(await get('domain'))).toEqual([]);
    expect((await get('circle')).journeys.find(({ slug }) => slug === 'membership')).toMatchObject({ step_count: 2 });
  });

  it('carries the configuration, and the custom fields of every class of holons', async () => {
    const organisation = await world.call(getClass, { object_kind: 'holon', slug: 'organisation' });
    expect(organisation.config).toMatchObject({ colour: 'green' });
    const [group] = organisation.config.info_field_groups ?? [];
    expect(group?.fields?.map(({ type }) => type)).toEqual([
      'text',
      'long_text',
      'rich_text',
      'select',
      'multi_select',
      'number',
      'boolean',
      'date',
      'url',
      'video',
      'slideshow',
    ]);
    expect((await world.call(getClass, { object_kind: 'holon', slug: 'domain' })).config).toEqual({ info_field_groups: [] });
    expect((await world.call(getClass, { object_kind: 'person', slug: 'topic' })).config).toEqual({});
  });

  it.each([
    ['holon', 'newsletter'],
    ['holon', 'old-circle'],
    ['person', 'organisation'],
    ['holon', 'unknown'],
  ])('knows no active class %s/%s', async (kind, slug) => {
    expect(await world.refusal(getClass, { object_kind: kind, slug })).toMatchObject({ code: 'not_found' });
  });
});

describe('directory.journeys.list and get (spec 02, GET /journeys; D47a, D48)', () => {
  const list = (request: Parameters<typeof world.call<typeof listJourneys>>[1]) => world.call(listJourneys, request, actors['stranger']);

  it('shows every field, active steps counted and usage totalled over private holons too', async () => {
    const { items } = await list({ q: 'membership' });
    expect(items).toEqual([
      {
        slug: 'membership',
        name: 'Membership',
        description: 'From guest to member.',
        svc_app_slug: 'network',
        applies_to_slug: 'community',
        applies_to_label: 'Community',
        object_kind: 'holon',
        is_conversation: false,
        public_visible: true,
        config_flags: [{ key: 'bulk_add', value: true, is_set: true }],
        step_count: 2,
        usage: { holon_direct_count: 0, membership_count: 3, relationship_count: 0 },
      },
    ]);
    expect((await list({ q: 'hosting' })).items[0]?.usage).toEqual({ holon_direct_count: 1, membership_count: 0, relationship_count: 2 });
    expect((await list({ q: 'open-talk' })).items[0]?.usage).toMatchObject({ holon_direct_count: 3 });
  });

  it('filters by application, kind, class, conversation and text; what names nothing finds nothing', async () => {
    expect(slugs(await list({ svc_app: 'circles' }))).toEqual(['rotation']);
    expect(slugs(await list({ object_kind: 'person' }))).toEqual(['empty']);
    expect(slugs(await list({ applies_to: 'gathering' }))).toEqual(['participation']);
    expect(slugs(await list({ is_conversation: true }))).toEqual(['open-talk']);
    expect(slugs(await list({ q: 'open' }))).toEqual(['open-talk']);
    expect(slugs(await list({ q: 'ÖP', is_conversation: true }))).toEqual(['open-talk']);
    for (const request of [
      { svc_app: 'x' },
      { object_kind: 'x' },
      { applies_to: 'x' },
      { q: '%' },
      { is_conversation: true, svc_app: 'network' },
    ]) {
      expect(await list(request)).toEqual({ count: 0, limit: 50, offset: 0, has_more: false, items: [] });
    }
  });

  it('pages by name', async () => {
    const all = await list({});
    expect([all.count, all.items.length]).toEqual([7, 7]);
    expect(names(all)).toEqual(names(all).toSorted());
    const page = await list({ limit: 3, offset: 3 });
    expect([page.count, page.has_more, slugs(page)]).toEqual([7, true, slugs(all).slice(3, 6)]);
  });

  it('shows the steps in order, archived ones too, and follows every change of memberships', async () => {
    const usage = async () => {
      const journey = await world.call(getJourney, { slug: 'membership' });
      return [journey.usage.membership_count, ...journey.steps.map((step) => step.usage.membership_count)];
    };
    const journey = await world.call(getJourney, { slug: 'membership' }, actors['stranger']);
    expect(journey.steps.map(({ slug, order, is_archived: archived }) => [slug, order, archived])).toEqual([
      ['interested', 0, false],
      ['draft', 1, true],
      ['member', 2, false],
    ]);
    expect(journey.steps[0]).toEqual({
      slug: 'interested',
      order: 0,
      title: 'Interested',
      goal: 'Meet.',
      success_criteria: 'Met.',
      starter_message: 'Hello.',
      is_archived: false,
      config_flags: [{ key: 'pipeline_job', value: null, is_set: false }],
      usage: { membership_count: 1, relationship_count: 0 },
    });
    expect(await usage()).toEqual([3, 1, 0, 1]);
    await world.apply({ memberships: [{ key: 'ada-council', person: 'ada', holon: 'council', journey: 'membership', step: 'member' }] });
    expect(await usage()).toEqual([3, 0, 0, 2]);
    await world.env.sql(joinUsageCounts.text);
    expect(await usage()).toEqual([3, 0, 0, 2]);
    await world.env.sql(`delete from directory.memberships where key = 'ada-council'`);
    expect(await usage()).toEqual([2, 0, 0, 1]);
    const talk = await world.call(getJourney, { slug: 'open-talk' });
    expect(talk.steps[1]?.config_flags).toEqual([{ key: 'pipeline_job', value: 'transcript_import', is_set: true }]);
    expect((await world.call(getJourney, { slug: 'empty' })).steps).toEqual([]);
    expect(await world.refusal(getJourney, { slug: 'unknown' })).toMatchObject({ code: 'not_found' });
  });
});

describe('directory.search.find (spec 02, GET /search; D42)', () => {
  const search = (request: Parameters<typeof world.call<typeof searchDirectory>>[1], who = 'stranger') =>
    world.call(searchDirectory, request, actors[who]);
  const shown = (body: Awaited<ReturnType<typeof search>>) =>
    body.items.map((item) => [item.kind, item.kind === 'person' ? item.person.name : item.holon.name, item.score, item.matched_field]);

  beforeAll(async () => {
    const person = (key: string, name: string, more: Record<string, unknown> = {}) => ({ key, name, ...more });
    await world.apply({
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
        { slug: 'hz2', name: 'House', class: 'community', links: { site: 'zephyr' } },
        { slug: 'hz3', name: 'Zephyr council', class: 'inner-circle', parent: 'council' },
        { slug: 'hz4', name: 'About', class: 'community', description: 'A zephyr blows.' },
      ],
    });
  });

  it('ranks exact, start, word start and part, channels alike, description last, equals by name and id', async () => {
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

  it('takes case, accents and wildcards as D42 and D47 say', async () => {
    expect(shown(await search({ q: 'ZÉPHYRINE' }))).toEqual([['person', 'Zephyrine Dupont', 0.8, 'name']]);
    for (const q of ['%%', '__', 'z%r', '\\\\']) expect([q, (await search({ q })).count]).toEqual([q, 0]);
  });

  it.each(['ze', 'mo', 'y ', 'yr', 'zq', '@e'])('finds what contains the two characters %j, and nothing else', async (q) => {
    const body = await search({ q, limit_per_type: 50 });
    const all = await world.env.sql<{ kind: string; id: number }>(
      `select 'person' as kind, id from directory.people
       where strpos(directory.fold(name || E'\\n' || directory.channel_text(contact) || E'\\n' || description), $1) > 0
       union all select 'holon', h.id from directory.holons h join directory.object_classes c on c.id = h.class_id and not c.effective_private
       where strpos(directory.fold(h.name || E'\\n' || directory.channel_text(h.links) || E'\\n' || h.description), $1) > 0`,
      [q],
    );
    const keys = (rows: { kind: string; id: number }[]): string[] => rows.map(({ kind, id }) => `${kind} ${id}`).toSorted();
    expect(keys(body.items)).toEqual(keys(all));
  });

  it('returns the best of each kind up to the limit, the same ones in the same order', async () => {
    const all = await search({ q: 'ze', limit_per_type: 50 });
    for (const limit of [1, 2, 3, 5, 8]) {
      const body = await search({ q: 'ze', limit_per_type: limit });
      for (const kind of ['person', 'holon']) {
        const of = (items: typeof all.items) => items.filter((item) => item.kind === kind).map(({ id, score }) => [id, score]);
        expect(of(body.items)).toEqual(of(all.items).slice(0, limit));
      }
      expect(body.count).toBe(body.items.length);
    }
  });

  it('narrows to the kinds asked for', async () => {
    expect((await search({ q: 'zephyr', types: 'holon' })).items.every(({ kind }) => kind === 'holon')).toBe(true);
    expect(await search({ q: 'zephyr', types: 'person, person' })).toMatchObject({ types: ['person'], count: 10 });
    for (const types of ['people', 'person,', '', 'person;holon']) {
      expect([types, (await world.refusal(searchDirectory, { q: 'zephyr', types })).code]).toEqual([types, 'bad_request']);
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
  ])('shows a private holon to %s: %s', async (who, visible) => {
    const found = async (q: string) => shown(await search({ q, types: 'holon' }, who)).some((row) => row[1] === 'Zephyr council');
    for (const q of ['zephyr', 'zephyr council', 'council', 'ze', 'phyr co']) expect([q, await found(q)]).toEqual([q, visible]);
    expect((await search({ q: 'https://council.example.org' }, who)).count).toBe(visible ? 1 : 0);
  });

  it('follows changes of names and channels', async () => {
    await world.apply({ people: [{ key: 'z4', name: 'Robert', contact: { nick: 'mistral' } }] });
    expect(shown(await search({ q: 'mistral' }))).toEqual([['person', 'Robert', 1, 'channel']]);
    expect(shown(await search({ q: 'zephyr', types: 'person' })).map((row) => row[1])).not.toContain('Robert');
    await world.env.sql(`delete from directory.people where key = 'z4'`);
    expect((await search({ q: 'mistral' })).count).toBe(0);
  });
});
