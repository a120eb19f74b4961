/**
 * Reads of people and holons on the fixture network: shapes, filters, order, counts, and objects that the caller cannot
 * see.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { directory } from '#services/directory';
import { foldUsageCounts } from '../../../services/directory/journeys/statements.ts';
import { startReadsFixture, names, slugs, type ReadsFixture } from './reads-fixture.ts';

const { listPeople, getPerson, listHolons, getHolon, getHolonBySlug } = directory.rpcs;

let fixture: ReadsFixture;
beforeAll(async () => {
  fixture = await startReadsFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const restOf = (items: readonly { id: number }[]): number[] => items.slice(1).map(({ id }) => id);

describe('directory.people.list (rules/people#people; D41, D47)', () => {
  const list = (request: Parameters<typeof fixture.call<typeof listPeople>>[1]) =>
    fixture.call(listPeople, request, fixture.actors['stranger']);

  it('finds people by part of the name, ignoring case and accents, and returns all public fields with timestamps', async () => {
    const body = await list({ q: 'FRANÇOIS LEF' });
    expect(body).toEqual({
      query: 'FRANÇOIS LEF',
      limit: 100,
      offset: 0,
      count: 1,
      has_more: false,
      items: [
        {
          id: fixture.idOf('people', 'francois'),
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

  it('matches names by any part, and emails and phone numbers by their start, with wildcards as literal characters (D87)', async () => {
    for (const q of ['hana@example.org', 'HANA@ex']) expect([q, (await list({ q })).count]).toEqual([q, 1]);
    expect((await list({ q: 'ana@example.org' })).count).toBe(0);
    expect((await list({ q: 'programmes' })).count).toBe(0);
    for (const q of ['%', '_', '%%%', 'a_a', '\\']) expect([q, (await list({ q })).count]).toEqual([q, 0]);
  });

  it.each(['e', 'ki', 'kim', ''])('counts all people that match %j, and returns each once across pages', async (q) => {
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

  it('sorts people by creation or change, newest first, then by id, and filters by dates without their exact value', async () => {
    const [moment, later] = ['2026-01-01T10:00:00.000001Z', '2026-01-02T00:00:00Z'];
    await fixture.env.sql(`update directory.people set created_at = $1, updated_at = $2`, [moment, later]);
    await fixture.env.sql(`update directory.people set created_at = $1, updated_at = $2 where key = 'ada'`, [
      later,
      '2026-01-03T00:00:00Z',
    ]);
    const latest = await list({ q: '', sort: 'latest' });
    expect(names(latest)[0]).toBe('Ada Lovelace');
    const updated = await list({ q: '', sort: 'updated' });
    expect(names(updated)[0]).toBe('Ada Lovelace');
    for (const { items } of [latest, updated])
      expect(restOf(items)).toEqual(restOf(items).toSorted((left, right) => left - right));
    expect(names(await list({ q: '', created_after: moment }))).toEqual(['Ada Lovelace']);
    expect((await list({ q: '', created_after: '2026-01-01T10:00:00Z' })).count).toBe(latest.count);
    expect(names(await list({ q: '', updated_after: '2026-01-02T00:00:00' }))).toEqual(['Ada Lovelace']);
    expect((await list({ q: '', updated_after: '2026-01-02T02:00:00+02:00' })).count).toBe(1);
  });

  it('rejects an unknown sort order of people', async () => {
    expect(await fixture.refusal(listPeople, { q: 'a', sort: 'created' })).toMatchObject({ code: 'bad_request' });
  });
});

describe('directory.people.get (rules/people#people)', () => {
  it('returns a person without timestamps, and 404 for an unknown id', async () => {
    expect(
      await fixture.call(getPerson, { person_id: fixture.idOf('people', 'scribe') }, fixture.actors['stranger']),
    ).toEqual({
      id: fixture.idOf('people', 'scribe'),
      name: 'Scribe',
      description: '',
      photo_url: null,
      actor_kind: 'agent',
      contact: {},
    });
    expect(await fixture.refusal(getPerson, { person_id: 2_000_000_000 })).toMatchObject({ code: 'not_found' });
  });
});

describe('directory.holons.list (rules/holons#holons; D47a, D48)', () => {
  const list = (request: Parameters<typeof fixture.call<typeof listHolons>>[1], who = 'stranger') =>
    fixture.call(listHolons, request, fixture.actors[who]);

  it('searches holons by name and description, ignoring case and accents', async () => {
    expect(slugs(await list({ q: 'VILLAGE' }))).toEqual(['kitchen', 'village']);
    expect(slugs(await list({ q: 'örk' }))).toEqual(['bread']);
    for (const q of ['%', '__', '%it%']) expect([q, (await list({ q })).count]).toEqual([q, 0]);
  });

  it('sorts holons by creation or change, newest first, then by id, and filters by dates without their exact value', async () => {
    const [moment, later] = ['2026-01-01T10:00:00.000001Z', '2026-01-02T00:00:00Z'];
    await fixture.env.sql(`update directory.holons set created_at = $1, updated_at = $2`, [moment, later]);
    await fixture.env.sql(`update directory.holons set created_at = $2, updated_at = $3 where slug = $1`, [
      'kitchen',
      later,
      '2026-01-03T00:00:00Z',
    ]);
    for (const asked of [{ class: 'community' }, { q: '' }]) {
      const [latest, updated] = [await list({ ...asked, sort: 'latest' }), await list({ ...asked, sort: 'updated' })];
      for (const { items } of [latest, updated]) {
        expect(items[0]?.slug).toBe('kitchen');
        expect(restOf(items)).toEqual(restOf(items).toSorted((left, right) => left - right));
      }
      expect(slugs(await list({ ...asked, created_after: moment }))).toEqual(['kitchen']);
      expect((await list({ ...asked, created_after: '2026-01-01T10:00:00Z' })).count).toBe(latest.count);
      expect(slugs(await list({ ...asked, updated_after: '2026-01-02T00:00:00' }))).toEqual(['kitchen']);
      expect((await list({ ...asked, updated_after: '2026-01-01T23:59:59.999999Z' })).count).toBe(latest.count);
    }
  });

  it('lists the holons of a class and of all classes below it, including retired ones', async () => {
    expect(await list({ class: 'community' })).toMatchObject({
      query: null,
      class: 'community',
      parent: null,
      count: 4,
      has_more: false,
    });
    expect(slugs(await list({ class: 'community' }))).toEqual(['attic', 'harbour', 'kitchen', 'village']);
    expect(slugs(await list({ class: 'experience' }))).toEqual(['bread']);
    expect(slugs(await list({ class: 'community', q: 'e' }))).toEqual(['kitchen', 'village']);
  });

  it.each(['newsletter', 'old-circle', 'unknown', ''])('rejects the class %j, which is not active', async (slug) => {
    expect(await fixture.refusal(listHolons, { class: slug })).toMatchObject({ code: 'bad_request' });
    expect(await fixture.refusal(listHolons, { class: slug, q: 'a' })).toMatchObject({ code: 'bad_request' });
  });

  it('requires q or class to list holons, and rejects an unknown sort order', async () => {
    expect(await fixture.refusal(listHolons, {})).toMatchObject({ code: 'bad_request' });
    expect(await fixture.refusal(listHolons, { parent: 1 })).toMatchObject({ code: 'bad_request' });
    expect(await fixture.refusal(listHolons, { q: 'a', sort: 'id' })).toMatchObject({ code: 'bad_request' });
  });

  it('filters holons by parent, and lists none for an unknown or invisible parent', async () => {
    expect(slugs(await list({ q: '', parent: fixture.idOf('holons', 'commons') }))).toEqual(['camp', 'village']);
    expect(slugs(await list({ q: '', parent: fixture.idOf('holons', 'commons') }, 'host'))).toEqual([
      'cellar',
      'camp',
      'village',
    ]);
    expect(await list({ q: '', parent: 0 })).toMatchObject({ parent: 0, count: 0, items: [] });
    expect((await list({ q: '', parent: fixture.idOf('holons', 'council') })).count).toBe(0);
    expect(slugs(await list({ q: '', parent: fixture.idOf('holons', 'council') }, 'keeper'))).toEqual([
      'core',
      'open-house',
    ]);
  });

  it.each([
    ['stranger', []],
    ['former', []],
    ['neighbour', ['vault']],
    ['keeper', ['core', 'council']],
    ['host', ['cellar', 'core', 'council']],
    ['editor', ['cellar', 'core', 'council', 'vault']],
    ['root', ['cellar', 'core', 'council', 'vault']],
  ])('lists and counts for %s only private holons within their authority', async (who, seen) => {
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

  it('updates the holon counts when holons are created or deleted, or change their class', async () => {
    const count = async () => (await list({ class: 'domain' })).count;
    const before = await count();
    await fixture.apply({ holons: [{ slug: 'mining', name: 'Mining', class: 'domain' }] });
    expect(await count()).toBe(before + 1);
    await fixture.env.sql(foldUsageCounts.prepared.text);
    expect(await count()).toBe(before + 1);
    await fixture.apply({ holons: [{ slug: 'mining', class: 'gathering' }] });
    expect(await count()).toBe(before);
    await fixture.env.sql(`delete from directory.holons where slug = 'mining'`);
    expect((await list({ class: 'gathering' }, 'root')).count).toBe(
      slugs(await list({ class: 'gathering' }, 'root')).length,
    );
  });
});

describe('directory.holons.get and get-by-slug (rules/holons#holons; D48)', () => {
  it('returns the class slug of a holon as its type, even if the class is retired, and the parent only if it is visible', async () => {
    expect(await fixture.call(getHolonBySlug, { slug: 'letter' }, fixture.actors['stranger'])).toEqual({
      id: fixture.idOf('holons', 'letter'),
      name: 'Letter',
      slug: 'letter',
      type: 'newsletter',
      description: '',
      parent_id: null,
      logo_url: null,
      links: {},
    });
    const [council, house] = [fixture.idOf('holons', 'council'), fixture.idOf('holons', 'open-house')];
    expect(await fixture.call(getHolon, { holon_id: house }, fixture.actors['stranger'])).toMatchObject({
      type: 'gathering',
      parent_id: null,
    });
    expect(await fixture.call(getHolon, { holon_id: house }, fixture.actors['keeper'])).toMatchObject({
      parent_id: council,
    });
  });

  it.each(['stranger', 'former', 'neighbour'])(
    'returns 404 for a private holon outside the authority of %s',
    async (who) => {
      const absent = await fixture.refusal(getHolonBySlug, { slug: 'nothing' }, fixture.actors[who]);
      for (const slug of ['council', 'core', 'cellar']) {
        expect((await fixture.refusal(getHolonBySlug, { slug }, fixture.actors[who])).toBody()).toEqual(
          absent.toBody(),
        );
        expect(
          (await fixture.refusal(getHolon, { holon_id: fixture.idOf('holons', slug) }, fixture.actors[who])).toBody(),
        ).toEqual(absent.toBody());
      }
    },
  );
});
