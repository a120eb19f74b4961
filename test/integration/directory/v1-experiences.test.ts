import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { directory, type NewExperience } from '#services/directory';
import { startEditFixture, type EditFixture } from './edit-fixture.ts';

const { checkExperienceLogo, createExperience, listHistory, setExperienceLogo } = directory.rpcs;

let fixture: EditFixture;
beforeAll(async () => (fixture = await startEditFixture(import.meta.url)));
afterAll(() => fixture.directory.stop());

const wish = (change: Partial<NewExperience> = {}): NewExperience => ({
  parent_id: fixture.holons['summer'] ?? 0,
  name: ' Night Walk ',
  description: '<p onclick="x">By moonlight.</p>',
  ...change,
});
const create = (change?: Partial<NewExperience>, actor = fixture.host) =>
  fixture.directory.call(createExperience, wish(change), actor);
const refusal = (change: Partial<NewExperience>, actor: typeof fixture.host | null = fixture.host) =>
  fixture.directory.refusal(createExperience, wish(change), actor);
const countHolons = async (): Promise<unknown> =>
  (await fixture.directory.env.sql('select count(*)::integer as count from directory.holons'))[0];

describe('experiences.create (rules/holons#experiences; D51a)', () => {
  it("creates an experience of the parent's first allowed experience class, with a slug from its name", async () => {
    const { experience } = await create();
    expect(experience).toEqual({
      id: expect.any(Number),
      name: 'Night Walk',
      slug: 'night-walk',
      type: 'walk',
      description: '<p>By moonlight.</p>',
      parent_id: fixture.holons['summer'],
      logo_url: null,
      links: {},
    });
  });

  it('creates an experience of the named class, and validates its info fields', async () => {
    expect((await create({ svc_class: 'workshop' })).experience.type).toBe('workshop');
    const { experience } = await create({ svc_class: 'walk', info_fields: { km: 12 } });
    const [row] = await fixture.directory.env.sql<{ infos: string }>(
      'select infos from directory.holons where id = $1',
      [experience.id],
    );
    expect(JSON.parse(row?.infos ?? '')).toEqual({ km: 12 });
    expect(await refusal({ svc_class: 'workshop', info_fields: { km: 12 } })).toMatchObject({ code: 'bad_request' });
    expect(await refusal({ info_fields: { km: 'twelve' } })).toMatchObject({ code: 'bad_request' });
  });

  it('creates a unique slug for each of several concurrent experiences with the same name', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => create({ name: 'Taken' })));
    const slugs = made.map(({ experience }) => experience.slug);
    expect(new Set(slugs).size).toBe(12);
    for (const slug of slugs) expect(slug).toMatch(/^taken-[a-z0-9]{6}$/);
  });

  it('rejects an invalid experience and creates nothing', async () => {
    const before = await countHolons();
    const bad: Partial<NewExperience>[] = [
      { name: '  ' },
      { description: ' \n ' },
      { description: '<script>x</script>' },
      { svc_class: 'place' }, // allowed below a camp, but not an experience
      { svc_class: 'experience' }, // The class is an experience, but the parent does not allow it.
      { svc_class: 'retired-walk' },
      { svc_class: 'nowhere' },
      { parent_id: fixture.holons['hike'] ?? 0 }, // its class does not allow children
    ];
    for (const change of bad)
      expect(await refusal(change, fixture.editor)).toMatchObject({ code: 'bad_request', reason: undefined });
    expect(await countHolons()).toEqual(before);
  });

  it('returns 403 without rights on the parent, and 404 for an unknown or invisible parent, before it validates the experience', async () => {
    const bad = { name: ' ' };
    expect(await refusal(bad, fixture.guest)).toMatchObject({ code: 'permission_denied', reason: undefined });
    expect(await refusal({ ...bad, parent_id: fixture.holons['root'] ?? 0 })).toMatchObject({
      code: 'permission_denied',
    });
    for (const actor of [fixture.host, fixture.guest])
      expect(await refusal({ ...bad, parent_id: fixture.holons['hidden'] ?? 0 }, actor)).toMatchObject({
        code: 'not_found',
      });
    for (const parent_id of [999_999, 0, -1, 3e9])
      expect(await refusal({ parent_id }, fixture.editor)).toMatchObject({ code: 'not_found' });
    await expect(create({ parent_id: fixture.holons['hidden'] ?? 0 }, fixture.editor)).resolves.toMatchObject({
      experience: { type: 'experience' },
    });
  });
});

describe('experiences.check-logo and set-logo (D51)', () => {
  it('allows a logo to callers that can edit the experience', async () => {
    const experience_id = fixture.holons['hike'] ?? 0;
    await expect(fixture.directory.call(checkExperienceLogo, { experience_id }, fixture.host)).resolves.toMatchObject({
      experience: { id: experience_id },
    });
    expect(await fixture.directory.refusal(checkExperienceLogo, { experience_id }, fixture.guest)).toMatchObject({
      code: 'permission_denied',
    });
    for (const id of [fixture.holons['tent'] ?? 0, 999_999, 0, 3e9]) {
      expect(await fixture.directory.refusal(checkExperienceLogo, { experience_id: id }, fixture.editor)).toMatchObject(
        {
          code: 'not_found',
        },
      );
    }
  });

  it('keeps the newest logo, regardless of the order of calls', async () => {
    const experience_id = fixture.holons['hike'] ?? 0;
    const set = async (blob_id: number, logo_url: string) =>
      (await fixture.directory.call(setExperienceLogo, { experience_id, blob_id, logo_url })).logo_url;
    expect(await set(5, '/media/logos/5')).toBe('/media/logos/5');
    expect(await set(4, '/media/logos/4')).toBe('/media/logos/5');
    expect(await set(5, '/media/logos/other')).toBe('/media/logos/5');
    expect(await set(6, '/media/logos/6')).toBe('/media/logos/6');
    expect(
      await fixture.directory.refusal(setExperienceLogo, { experience_id: 999_999, blob_id: 1, logo_url: '/x' }),
    ).toMatchObject({
      code: 'not_found',
    });
  });

  it('records who created the experience and who uploaded its logo', async () => {
    const { experience } = await create({ name: 'Recorded' });
    const accountId = fixture.host.kind === 'user' ? fixture.host.accountId : 0;
    const changed_by = { account_id: accountId, key_id: 'abc', via: 'console' };
    const logo = { experience_id: experience.id, blob_id: 7, logo_url: '/media/logos/7' };
    await fixture.directory.call(setExperienceLogo, { ...logo, changed_by });
    await fixture.directory.call(setExperienceLogo, { ...logo, blob_id: 8, logo_url: '/media/logos/8' });
    const { items } = await fixture.directory.call(
      listHistory,
      { kind: 'holons', id: String(experience.id) },
      fixture.host,
    );
    expect(items.map(({ actor, via, changes }) => [actor?.kind, actor?.key_id, via, Object.keys(changes)])).toEqual([
      [undefined, undefined, 'webhook', ['logo_url']],
      ['key', 'abc', 'console', ['logo_url']],
      ['account', null, 'api', expect.arrayContaining(['name', 'class', 'parent_id'])],
    ]);
  });
});
