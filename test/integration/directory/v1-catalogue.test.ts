/** Reads of classes and journeys on the fixture network: shapes, filters, order, and usage counts. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { directory } from '#services/directory';
import { foldUsageCounts } from '../../../services/directory/journeys/statements.ts';
import { startReadsFixture, names, slugs, type ReadsFixture } from './reads-fixture.ts';

const { listClasses, getClass, listJourneys, getJourney } = directory.rpcs;

let fixture: ReadsFixture;
beforeAll(async () => {
  fixture = await startReadsFixture(import.meta.url);
});
afterAll(() => fixture.stop());

describe('directory.classes.list and get (rules/journeys#classes; D48)', () => {
  const catalogue = (body: { journeys: { slug: string }[] }): string[] => body.journeys.map(({ slug }) => slug);

  it('lists active classes in order, optionally of one object kind', async () => {
    const all = await fixture.call(listClasses, {});
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
    expect((await fixture.call(listClasses, { object_kind: 'person' })).map(({ slug }) => slug)).toEqual(['topic']);
    expect(await fixture.call(listClasses, { object_kind: 'nothing' })).toEqual([]);
  });

  it('returns a class with its own and inherited journeys in catalogue order, without duplicates', async () => {
    const get = (slug: string) => fixture.call(getClass, { object_kind: 'holon', slug });
    expect(catalogue(await get('community'))).toEqual(['membership', 'participation', 'contact']);
    expect(catalogue(await get('circle'))).toEqual(['rotation', 'participation', 'membership', 'contact']);
    expect(catalogue(await get('core-circle'))).toEqual(['rotation', 'participation', 'membership', 'contact']);
    expect(catalogue(await get('domain'))).toEqual([]);
    expect((await get('circle')).journeys.find(({ slug }) => slug === 'membership')).toMatchObject({ step_count: 2 });
  });

  it('returns the configuration of a class, and the info fields of every holon class', async () => {
    const organisation = await fixture.call(getClass, { object_kind: 'holon', slug: 'organisation' });
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
    expect((await fixture.call(getClass, { object_kind: 'holon', slug: 'domain' })).config).toEqual({
      info_field_groups: [],
    });
    expect((await fixture.call(getClass, { object_kind: 'person', slug: 'topic' })).config).toEqual({});
  });

  it.each([
    ['holon', 'newsletter'],
    ['holon', 'old-circle'],
    ['person', 'organisation'],
    ['holon', 'unknown'],
  ])('returns 404 for the inactive or unknown class %s/%s', async (kind, slug) => {
    expect(await fixture.refusal(getClass, { object_kind: kind, slug })).toMatchObject({ code: 'not_found' });
  });
});

describe('directory.journeys.list and get (rules/journeys#journeys; D47a, D48)', () => {
  const list = (request: Parameters<typeof fixture.call<typeof listJourneys>>[1]) =>
    fixture.call(listJourneys, request, fixture.actors['stranger']);

  it('returns all fields of a journey, with counts of active steps and of usage, including private holons', async () => {
    const { items } = await list({ q: 'membership' });
    expect(items).toEqual([
      {
        id: expect.any(Number),
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
    expect((await list({ q: 'hosting' })).items[0]?.usage).toEqual({
      holon_direct_count: 1,
      membership_count: 0,
      relationship_count: 2,
    });
    expect((await list({ q: 'open-talk' })).items[0]?.usage).toMatchObject({ holon_direct_count: 3 });
  });

  it('filters journeys by application, kind, class, conversation and text; unknown values match no journey', async () => {
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

  it('lists journeys in pages, by name', async () => {
    const all = await list({});
    expect([all.count, all.items.length]).toEqual([7, 7]);
    expect(names(all)).toEqual(['Contact', 'Empty', 'Hosting', 'Membership', 'Öpen talk', 'Participation', 'Rotation']);
    const page = await list({ limit: 3, offset: 3 });
    expect([page.count, page.has_more, slugs(page)]).toEqual([7, true, slugs(all).slice(3, 6)]);
  });

  it('returns the steps of a journey in order, including archived ones, with current usage counts', async () => {
    const usage = async () => {
      const journey = await fixture.call(getJourney, { slug: 'membership' });
      return [journey.usage.membership_count, ...journey.steps.map((step) => step.usage.membership_count)];
    };
    const journey = await fixture.call(getJourney, { slug: 'membership' }, fixture.actors['stranger']);
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
    await fixture.apply({
      memberships: [{ key: 'ada-council', person: 'ada', holon: 'council', journey: 'membership', step: 'member' }],
    });
    expect(await usage()).toEqual([3, 0, 0, 2]);
    await fixture.env.sql(foldUsageCounts.prepared.text);
    expect(await usage()).toEqual([3, 0, 0, 2]);
    await fixture.env.sql(`delete from directory.memberships where key = 'ada-council'`);
    expect(await usage()).toEqual([2, 0, 0, 1]);
    const talk = await fixture.call(getJourney, { slug: 'open-talk' });
    expect(talk.steps[1]?.config_flags).toEqual([{ key: 'pipeline_job', value: 'transcript_import', is_set: true }]);
    expect((await fixture.call(getJourney, { slug: 'empty' })).steps).toEqual([]);
    const [first, second] = [
      { slug: 'first', title: 'First' },
      { slug: 'second', title: 'Second' },
    ];
    for (const steps of [
      [first, second],
      [second, first],
    ]) {
      await fixture.apply({ journeys: [{ slug: 'turned', name: 'Turned', steps }] });
      expect((await fixture.call(getJourney, { slug: 'turned' })).steps.map(({ slug }) => slug)).toEqual(
        steps.map(({ slug }) => slug),
      );
    }
    expect(await fixture.refusal(getJourney, { slug: 'unknown' })).toMatchObject({ code: 'not_found' });
  });
});
