/** Holons created and moved over the API (W2, W12, W13, W14). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import { contextFor } from '#libs/product/testing';
import { directory, type NewHolon } from '#services/directory';
import { startEditFixture, type EditFixture } from './edit-fixture.ts';

const { createHolon, getHolon, getHolonBySlug, listHistory, updateHolon } = directory.rpcs;

let fixture: EditFixture;
let count = 0;
beforeAll(async () => (fixture = await startEditFixture(import.meta.url)));
afterAll(() => fixture.directory.stop());

const idOf = (slug: string): number => fixture.holons[slug] ?? 0;
const wish = (change: Partial<NewHolon> = {}): NewHolon => ({
  name: `Place ${++count}`,
  class: 'place',
  parent_id: idOf('summer'),
  ...change,
});
const create = (change?: Partial<NewHolon>, actor = fixture.host) =>
  fixture.directory.call(createHolon, wish(change), actor);
const refusal = (change: Partial<NewHolon>, actor: Actor = fixture.host) =>
  fixture.directory.refusal(createHolon, wish(change), actor);
describe('holons.create (rules/holons#create-and-delete; W2, W13, W14)', () => {
  it('creates a holon with all its fields, its event and its history', async () => {
    const { holon } = await create(
      {
        name: '  Été à Paris ',
        description: '<p onclick="x">Sun</p>',
        links: { site: ' https://a.org ', none: '' },
        locations: ['fr'],
        spheres: [fixture.spheres['art'] ?? 0],
        info_fields: { motto: 'Slow', theme: ['care', 'unknown'], seats: null },
        journey_ids: [fixture.journeys['other'] ?? 0],
      },
      fixture.editor,
    );
    expect(holon).toEqual({
      id: expect.any(Number),
      name: 'Été à Paris',
      slug: 'ete-a-paris',
      type: 'place',
      description: '<p>Sun</p>',
      parent_id: idOf('summer'),
      logo_url: null,
      links: { site: 'https://a.org' },
      info_fields: { motto: 'Slow', theme: ['care'] },
      locations: ['FR'],
      spheres: [fixture.spheres['art']],
      journey_ids: [fixture.journeys['other']],
    });
    expect(await fixture.directory.call(getHolon, { holon_id: holon.id }, fixture.editor)).toEqual(holon);
    const { items } = await fixture.directory.call(
      listHistory,
      { kind: 'holons', id: String(holon.id) },
      fixture.editor,
    );
    expect(items).toEqual([
      expect.objectContaining({
        via: 'api',
        changes: expect.objectContaining({
          name: { old: null, new: 'Été à Paris' },
          class: { old: null, new: 'place' },
        }),
      }),
    ]);
  });

  it('lets global editors create anything anywhere, and others below a parent that they edit and that allows the class', async () => {
    expect((await create({ class: 'domain', parent_id: null }, fixture.editor)).holon.parent_id).toBeNull();
    expect((await create({ class: 'camp', parent_id: idOf('tent') }, fixture.editor)).holon.type).toBe('camp');
    expect((await create()).holon.type).toBe('place');
    const denied: [Partial<NewHolon>, Actor][] = [
      [{ parent_id: null }, fixture.host],
      [{ class: 'domain', parent_id: null }, fixture.host],
      [{ class: 'camp' }, fixture.host],
      [{ parent_id: idOf('tent') }, fixture.host],
      [{ parent_id: idOf('root') }, fixture.host],
      [{}, fixture.guest],
      [{ journey_ids: [] }, fixture.host],
    ];
    for (const [change, actor] of denied) {
      expect({ change, code: (await refusal(change, actor)).code }).toEqual({ change, code: 'permission_denied' });
    }
  });

  it('answers a hidden parent as an unknown one', async () => {
    const [hidden, unknown] = [await refusal({ parent_id: idOf('hidden') }), await refusal({ parent_id: 2_000_000 })];
    expect(hidden.code).toBe('bad_request');
    expect(hidden).toEqual(unknown);
  });

  it('rejects invalid values and creates nothing', async () => {
    const bad: Partial<NewHolon>[] = [
      { name: ' \u200d' },
      { class: 'nope' },
      { class: 'retired-walk' },
      { parent_id: 0 },
      { parent_id: 2 ** 40 },
      { slug: 'not a slug' },
      { slug: '..' },
      { links: { site: 'javascript:x' } },
      { locations: ['XX'] },
      { spheres: [fixture.spheres['old'] ?? 0] },
      { info_fields: { nope: 'x' } },
      { journey_ids: [999_999] },
      { description: '<'.repeat(50_000) },
    ];
    const rows = async () =>
      (await fixture.directory.env.sql('select count(*)::integer as count from directory.holons'))[0];
    const before = await rows();
    for (const change of bad) {
      expect({ change, code: (await refusal(change, fixture.editor)).code }).toEqual({ change, code: 'bad_request' });
    }
    expect(await rows()).toEqual(before);
  });

  it('rejects a used slug, also of a hidden holon, and numbers derived ones', async () => {
    for (const slug of ['taken', 'hidden']) {
      expect(await refusal({ slug })).toMatchObject({ code: 'conflict', reason: 'slug_taken' });
    }
    const derived = [await create({ name: 'Taken' }), await create({ name: 'Taken' })];
    expect(derived.map(({ holon }) => holon.slug)).toEqual(['taken-2', 'taken-3']);
    const many = await Promise.all(Array.from({ length: 6 }, () => create({ name: 'Crowd' })));
    expect(new Set(many.map(({ holon }) => holon.slug)).size).toBe(6);
  });

  it('lets one of several concurrent creations have a slug', async () => {
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => create({ slug: 'only-one' })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.reason] : []));
    expect(reasons).toEqual(Array(5).fill('slug_taken'));
  });

  it('creates one holon for repeated requests with an Idempotency-Key, and repeats a conflict', async () => {
    const call = (request: NewHolon, sentIdempotencyKey: string) =>
      fixture.directory.bus.call(createHolon, request, {
        ...contextFor(createHolon, fixture.host),
        sentIdempotencyKey,
      });
    const request = wish();
    expect(await call(request, 'holon-1')).toEqual(await call(request, 'holon-1'));
    await expect(call(wish({ slug: 'taken' }), 'holon-2')).rejects.toMatchObject({ reason: 'slug_taken' });
  });
});

describe('holons.get (W2, W12)', () => {
  it('returns info fields, locations, spheres and journeys only to callers who can edit the holon', async () => {
    const { holon } = await create({ locations: ['DE'], info_fields: { motto: 'x' } });
    const read = async (actor: Actor) => {
      const byId = await fixture.directory.call(getHolon, { holon_id: holon.id }, actor);
      expect(await fixture.directory.call(getHolonBySlug, { slug: holon.slug }, actor)).toEqual(byId);
      return byId;
    };
    expect(await read(fixture.host)).toEqual(holon);
    expect(await read(fixture.editor)).toEqual(holon);
    const { info_fields: _, locations: _l, spheres: _s, journey_ids: _j, ...open } = holon;
    expect(await read(fixture.guest)).toEqual(open);
  });
});

describe('holons.update of place and slug (W2, W14)', () => {
  const update = (id: number, fields: object, actor = fixture.host) =>
    fixture.directory.call(updateHolon, { holon_id: id, ...fields }, actor);
  const updateRefusal = (id: number, fields: object, actor = fixture.host) =>
    fixture.directory.refusal(updateHolon, { holon_id: id, ...fields }, actor);

  it('moves a holon below a parent that allows its class, and records it', async () => {
    const { holon: camp } = await create({ class: 'camp', parent_id: idOf('summer') }, fixture.editor);
    const { holon } = await create();
    const reply = await update(holon.id, { parent_id: camp.id, slug: 'moved-here' });
    expect(reply.holon).toEqual({ ...holon, parent_id: camp.id, slug: 'moved-here' });
    expect(reply.changes).toEqual({
      slug: { old: holon.slug, new: 'moved-here' },
      parent_id: { old: idOf('summer'), new: camp.id },
    });
    const { items } = await fixture.directory.call(listHistory, { kind: 'holons', id: String(holon.id) }, fixture.host);
    expect(items[0]?.changes).toEqual(reply.changes);
    expect((await update(holon.id, { parent_id: camp.id, slug: 'moved-here' })).changes).toEqual({});
  });

  it('rejects parents that do not exist, do not allow the class, or are the holon or below it', async () => {
    const place = (await create()).holon.id;
    await fixture.directory.apply({
      classes: [{ slug: 'loop', allowed_children: ['loop'] }],
      holons: [
        { slug: 'loop-a', name: 'A', class: 'loop', parent: 'summer' },
        { slug: 'loop-b', name: 'B', class: 'loop', parent: 'loop-a' },
      ],
    });
    const ids = await fixture.directory.env.sql<{ id: number }>(
      `select id from directory.holons where slug in ('loop-a', 'loop-b') order by slug`,
    );
    const [a = 0, b = 0] = ids.map(({ id }) => id);
    for (const actor of [fixture.host, fixture.editor]) {
      const bad: [number, number][] = [
        [place, 2_000_000],
        [place, idOf('tent')],
        [a, b],
        [a, a],
      ];
      for (const [id, parent] of bad) {
        expect(await updateRefusal(id, { parent_id: parent }, actor)).toMatchObject({ code: 'bad_request' });
      }
    }
    expect(await updateRefusal(place, { parent_id: idOf('hidden') })).toMatchObject({ code: 'bad_request' });
  });

  it('moves to the top only for global editors, and elsewhere only where the caller could create the holon', async () => {
    const { holon: elsewhere } = await create({ class: 'camp', parent_id: null }, fixture.editor);
    const { holon } = await create();
    expect(await updateRefusal(holon.id, { parent_id: null })).toMatchObject({ code: 'permission_denied' });
    expect(await updateRefusal(holon.id, { parent_id: elsewhere.id })).toMatchObject({ code: 'permission_denied' });
    expect((await update(holon.id, { parent_id: null }, fixture.editor)).holon.parent_id).toBeNull();
  });

  it('accepts a hidden parent as the caller sees it: null', async () => {
    await fixture.directory.apply({
      holons: [{ slug: 'veiled', name: 'Veiled', class: 'place', parent: 'hidden' }],
      accounts: [{ email: 'hana@example.org', teams: [{ holon: 'veiled' }] }],
    });
    const veiled = await fixture.directory.call(getHolonBySlug, { slug: 'veiled' }, fixture.host);
    expect(veiled.parent_id).toBeNull();
    expect((await update(veiled.id, { parent_id: null })).changes).toEqual({});
    const seen = await fixture.directory.call(getHolon, { holon_id: veiled.id }, fixture.editor);
    expect(seen.parent_id).toBe(idOf('hidden'));
  });

  it('creates no cycle when two holons move below each other at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      await fixture.directory.apply({
        classes: [{ slug: 'ring', allowed_children: ['ring'] }],
        holons: ['x', 'y'].map((slug) => ({
          slug: `ring-${slug}-${round}`,
          name: slug,
          class: 'ring',
          parent: 'summer',
        })),
      });
      const rows = await fixture.directory.env.sql<{ id: number }>(
        `select id from directory.holons where slug like 'ring-_-${round}' order by slug`,
      );
      const [x = 0, y = 0] = rows.map(({ id }) => id);
      const results = await Promise.allSettled([update(x, { parent_id: y }), update(y, { parent_id: x })]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('rejects a used or invalid slug, and changes nothing', async () => {
    const { holon } = await create();
    expect(await updateRefusal(holon.id, { slug: 'hidden' })).toMatchObject({ code: 'conflict', reason: 'slug_taken' });
    expect(await updateRefusal(holon.id, { slug: 'no slug' })).toMatchObject({ code: 'bad_request' });
    expect(await fixture.directory.call(getHolon, { holon_id: holon.id }, fixture.host)).toEqual(holon);
  });
});
