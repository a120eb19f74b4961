import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import { waitFor } from '#libs/product/testing';
import { directory, type HolonUpdate } from '#services/directory';
import { startEditFixture, type EditFixture } from './edit-fixture.ts';

const { updateHolon } = directory.rpcs;

let fixture: EditFixture;
let count = 0;
beforeAll(async () => (fixture = await startEditFixture(import.meta.url)));
afterAll(() => fixture.directory.stop());

/** Creates a holon below the camp, which the host can edit. */
async function fresh(values: Record<string, unknown> = {}, objectClass = 'place'): Promise<number> {
  const slug = `fresh-${++count}`;
  const { ids } = await fixture.directory.apply({
    holons: [{ slug, name: 'Fresh', class: objectClass, parent: 'summer', ...values }],
  });
  return ids['holons']?.[slug] ?? 0;
}
const update = (id: number, fields: HolonUpdate, actor = fixture.host) =>
  fixture.directory.call(updateHolon, { holon_id: id, ...fields }, actor);
const refusal = (
  id: number,
  fields: HolonUpdate | RequestOf<typeof updateHolon>,
  actor: typeof fixture.host | null = fixture.host,
) => fixture.directory.refusal(updateHolon, { ...fields, holon_id: id }, actor);
const row = async (id: number) =>
  (
    await fixture.directory.env.sql<{
      name: string;
      description: string;
      links: string;
      infos: string;
      updated_at: string;
    }>('select name, description, links, infos, updated_at from directory.holons where id = $1', [id])
  )[0];
const infosOf = async (id: number): Promise<unknown> => parseJson((await row(id))?.infos ?? '');

describe('holons.update (rules/holons#update-a-holon; D46a)', () => {
  it('updates the fields in the request, and returns old and new values of changed fields', async () => {
    const id = await fresh({ description: 'Old', links: { site: 'https://a.org', chat: 'tel:1' } });
    const reply = await update(id, { name: '  New ', links: { site: 'https://b.org', empty: ' ', none: '' } });
    expect(reply).toEqual({
      holon: {
        id,
        name: 'New',
        slug: expect.any(String),
        type: 'place',
        description: 'Old',
        parent_id: fixture.holons['summer'],
        logo_url: null,
        links: { site: 'https://b.org' },
        info_fields: {},
        locations: [],
        spheres: [],
        journey_ids: [],
      },
      changes: {
        name: { old: 'Fresh', new: 'New' },
        links: { old: { site: 'https://a.org', chat: 'tel:1' }, new: { site: 'https://b.org' } },
      },
    });
  });

  it('returns no changes and keeps updated_at when the request equals the stored holon', async () => {
    const id = await fresh({ description: 'D', links: { a: 'tel:1' }, locations: ['DE'] });
    const before = await row(id);
    const same = {
      name: 'Fresh',
      description: ' D',
      links: { a: 'tel:1' },
      locations: ['de'],
      spheres: [],
      info_fields: { theme: [], motto: null },
    };
    expect((await update(id, same)).changes).toEqual({});
    expect((await update(id, {})).changes).toEqual({});
    expect(await row(id)).toEqual(before);
    await update(id, { description: 'E' });
    expect(String((await row(id))?.updated_at) > String(before?.updated_at)).toBe(true);
  });

  it('limits the length of the sanitised description, and accepts a returned description again (D91)', async () => {
    const id = await fresh();
    const most = await update(id, { description: '<'.repeat(25_000) });
    expect(most.holon.description).toHaveLength(100_000);
    expect((await update(id, { description: most.holon.description })).changes).toEqual({});
    const longer = ['<'.repeat(25_001), '&'.repeat(100_000), '<a href="https://a.org">a</a>'.repeat(3_400)];
    for (const description of longer) {
      await expect(update(id, { description })).rejects.toMatchObject({
        status: 400,
        message: expect.stringMatching(/^description .*100000/),
      });
    }
    expect((await row(id))?.description).toHaveLength(100_000);
    const smileys = '\u{1f600}'.repeat(100_000);
    expect((await update(id, { description: smileys })).holon.description).toBe(smileys);
    await fixture.directory.apply({ holons: [{ slug: (await update(id, {})).holon.slug, description: smileys }] });
  });

  it('sanitises the description of a holon', async () => {
    const reply = await update(await fresh(), {
      description: '<p style="x">a<script>b</script><a href="javascript:c">d</a></p>',
    });
    expect(reply.changes).toEqual({ description: { old: '', new: '<p>a<a>d</a></p>' } });
  });

  it('merges locations, spheres and info fields into the stored infos, and keeps infos that are absent from the request', async () => {
    const id = await fresh({ infos: { hidden: { deep: 1 }, motto: 'old' }, locations: ['FR'] });
    const { health = 0, art = 0 } = fixture.spheres;
    const reply = await update(id, {
      locations: ['de', 'AT', 'DE'],
      spheres: [art, health, art],
      info_fields: { motto: 'new', theme: ['care', 'zzz', 'care'] },
    });
    expect(reply.changes).toEqual({
      locations: { old: ['FR'], new: ['DE', 'AT'] },
      spheres: { old: [], new: [art, health] },
      info_fields: { old: { motto: 'old' }, new: { motto: 'new', theme: ['care'] } },
    });
    expect(await infosOf(id)).toEqual({
      hidden: { deep: 1 },
      motto: 'new',
      theme: ['care'],
      locations: ['DE', 'AT'],
      spheres: [art, health],
    });
    expect((await update(id, { locations: [], info_fields: { motto: null, theme: [] } })).changes).toEqual({
      locations: { old: ['DE', 'AT'], new: [] },
      info_fields: { old: { motto: 'new', theme: ['care'] }, new: { theme: [] } },
    });
    expect(await infosOf(id)).toEqual({ hidden: { deep: 1 }, theme: [], locations: [], spheres: [art, health] });
  });

  it('keeps all digits of a number in an info field', async () => {
    const id = await fresh();
    await update(id, {
      info_fields: parseJson('{"seats": 12345678901234567890.50}') as HolonUpdate['info_fields'] & object,
    });
    expect((await row(id))?.infos).toContain('12345678901234567890.50');
    expect(
      (
        await update(id, {
          info_fields: parseJson('{"seats": 12345678901234567890.50}') as HolonUpdate['info_fields'] & object,
        })
      ).changes,
    ).toEqual({});
  });

  it('accepts info fields of the class and its ancestors, and uses the nearest declaration', async () => {
    const id = await fresh({}, 'camp');
    await update(id, { info_fields: { tents: 3, motto: 'long', seats: 4 } });
    expect(await infosOf(id)).toEqual({ tents: 3, motto: 'long', seats: 4 });
    expect(await refusal(await fresh(), { info_fields: { tents: 3 } })).toMatchObject({ code: 'bad_request' });
    const { config } = await fixture.directory.call(directory.rpcs.getClass, { object_kind: 'holon', slug: 'camp' });
    expect(config.info_field_groups?.map(({ key }) => key)).toEqual(['camp', 'about']);
    expect(await fixture.directory.call(directory.rpcs.lookUpHolons, { ids: [id] })).toMatchObject([
      { infos: { tents: 3, motto: 'long', seats: 4 } },
    ]);
  });

  it('replaces the journeys of a holon in order, and requires global edit access', async () => {
    const id = await fresh({ journeys: ['other'] });
    const { joining = 0, other = 0 } = fixture.journeys;
    expect(await refusal(id, { journey_ids: [joining] })).toMatchObject({
      code: 'permission_denied',
      reason: undefined,
    });
    const reply = await update(id, { journey_ids: [joining, other, joining] }, fixture.editor);
    expect(reply.changes).toEqual({ journey_ids: { old: [other], new: [joining, other] } });
    expect((await update(id, { journey_ids: [joining, other] }, fixture.editor)).changes).toEqual({});
    expect((await update(id, { journey_ids: [] }, fixture.editor)).changes).toEqual({
      journey_ids: { old: [joining, other], new: [] },
    });
    for (const bad of [999_999, 0, -1, 3e9])
      expect(await refusal(id, { journey_ids: [joining, bad] }, fixture.editor)).toMatchObject({ code: 'bad_request' });
  });

  it('rejects a new name if the class or an ancestor marks it as read-only, and allows other fields', async () => {
    const { law = 0 } = fixture.holons;
    expect(await refusal(law, { name: 'Law' }, fixture.editor)).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('name'),
    });
    expect((await update(law, { description: 'Rules' }, fixture.editor)).changes).toEqual({
      description: { old: '', new: 'Rules' },
    });
  });

  it('changes nothing if one field of a holon update is invalid', async () => {
    const id = await fresh({ description: 'Kept', links: { a: 'tel:1' }, infos: { motto: 'kept' } });
    const before = await row(id);
    const bad: HolonUpdate[] = [
      { name: '  ' },
      { locations: ['DE', 'XX'] },
      { locations: ['DEU'] },
      { spheres: [fixture.spheres['old'] ?? 0] },
      { spheres: [999_999] },
      { spheres: [0] },
      { spheres: [3e9] },
      { info_fields: { nope: 1 } },
      { info_fields: { pictures: [] } },
      { info_fields: { theme: 'care' } },
      { info_fields: { trailer: 'ftp://x' } },
      { info_fields: { trailer: 'https://x\ny' } },
      { info_fields: { home: 'javascript:x' } },
      { links: { site: 'javascript:alert(1)' } },
      { links: { site: ' JaVa\tScript:alert(1)' } },
      { links: { site: 'data:text/html,x' } },
      { links: { site: 'example.org' } },
      { links: { good: 'https://a.org', bad: 'ftp://a.org' } },
      { info_fields: { seats: '4' } },
    ];
    for (const fields of bad) {
      const good = { description: 'Lost', links: {}, info_fields: { motto: 'lost', ...fields.info_fields } };
      expect(await refusal(id, { ...good, ...fields, info_fields: good.info_fields })).toMatchObject({
        code: 'bad_request',
        reason: undefined,
      });
    }
    expect(await row(id)).toEqual(before);
  });

  it('accepts http, https, mailto and tel links, and stores them trimmed (D72)', async () => {
    const links = { a: ' https://a.org/x?y#z ', b: 'HTTP://b.org', c: 'mailto:a@b.org', d: 'tel:+49301', blank: ' ' };
    const { holon } = await update(await fresh(), { links });
    expect(holon.links).toEqual({ a: 'https://a.org/x?y#z', b: 'HTTP://b.org', c: 'mailto:a@b.org', d: 'tel:+49301' });
    expect((await refusal(await fresh(), { links: { site: 'javascript:x' } })).message).toBe(
      'links.site must be a link with the scheme http, https, mailto or tel.',
    );
  });

  it('returns 403 without edit rights, and 404 for unknown or invisible holons, before it validates fields', async () => {
    const { root = 0, hidden = 0, tent = 0 } = fixture.holons;
    const fields = { name: ' ' };
    for (const actor of [fixture.guest, fixture.host])
      expect(await refusal(root, fields, actor)).toMatchObject({ code: 'permission_denied' });
    expect(await refusal(tent, fields, fixture.guest)).toMatchObject({ code: 'permission_denied' });
    for (const actor of [fixture.guest, fixture.host])
      expect(await refusal(hidden, fields, actor)).toMatchObject({ code: 'not_found' });
    for (const id of [999_999, 0, -5, 3e9])
      expect(await refusal(id, fields, fixture.editor)).toMatchObject({ code: 'not_found' });
    await expect(update(hidden, { description: 'Seen' }, fixture.editor)).resolves.toMatchObject({
      holon: { id: hidden },
    });
    await expect(update(tent, { description: 'Below' }, fixture.host)).resolves.toMatchObject({ holon: { id: tent } });
  });

  it('keeps all concurrent updates of different fields of a holon', async () => {
    const id = await fresh();
    const { joining = 0 } = fixture.journeys;
    const writes: HolonUpdate[] = [
      { name: 'Parallel' },
      { description: 'Parallel' },
      { links: { p: 'tel:2' } },
      { locations: ['DE'] },
      { spheres: [fixture.spheres['health'] ?? 0] },
      { info_fields: { motto: 'm' } },
      { info_fields: { seats: 1 } },
      { info_fields: { theme: ['care'] } },
      { journey_ids: [joining] },
    ];
    const replies = await Promise.all(writes.map((fields) => update(id, fields, fixture.editor)));
    expect(replies.map(({ changes }) => Object.keys(changes).length)).toEqual(writes.map(() => 1));
    expect(await row(id)).toMatchObject({ name: 'Parallel', description: 'Parallel' });
    expect(await infosOf(id)).toEqual({
      motto: 'm',
      seats: 1,
      theme: ['care'],
      locations: ['DE'],
      spheres: [fixture.spheres['health']],
    });
  });

  it('returns to each concurrent update of a field the value that it replaced', async () => {
    const id = await fresh();
    const replies = await Promise.all(Array.from({ length: 8 }, (_, index) => update(id, { name: `Name ${index}` })));
    const olds = replies.map(({ changes }) => changes.name?.old);
    expect(new Set(olds).size).toBe(8);
  });

  it('notifies other services about changed holons and journeys', async () => {
    const id = await fresh();
    const told: (readonly number[] | null)[] = [];
    const { holonsChanged, journeysChanged } = directory.events;
    fixture.directory.bus.subscribeEvent(holonsChanged, ({ ids }) => void told.push(ids));
    fixture.directory.bus.subscribeEvent(journeysChanged, ({ ids }) => void told.push(ids));
    await update(id, { name: 'Told', journey_ids: [fixture.journeys['joining'] ?? 0] }, fixture.editor);
    await waitFor(() => told.length >= 2);
    expect(told).toEqual(expect.arrayContaining([[id], [fixture.journeys['joining']]]));
  });
});
