import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/infrastructure/json';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { document, snapshot } from './workspace-document.ts';
import { sized } from '../../drill.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

let fixture: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
});
afterAll(() => fixture.stop());

describe('directory.workspace.apply (rules/workspace#workspace-file)', () => {
  it('creates all items of a workspace file, and returns their ids by key for each list (rules/workspace#lists)', async () => {
    const reply = await fixture.apply(document);
    expect(reply).toMatchObject({ created: 13, updated: 0, unchanged: 0 });
    expect(Object.keys(reply.ids).toSorted()).toEqual([
      'accounts',
      'classes',
      'holons',
      'journeys',
      'memberships',
      'people',
      'relationships',
      'spheres',
      'steps',
    ]);
    expect(reply.ids['memberships']).toEqual({ 'ada/spring/open-circle': expect.any(Number) });
    const [holon] = await fixture.env.sql('select name, infos::text, parent_id from directory.holons where slug = $1', [
      'spring',
    ]);
    expect(holon).toEqual({
      name: 'Spring',
      infos: `{"spheres": [${reply.ids['spheres']?.['health']}], "locations": ["DE"]}`,
      parent_id: reply.ids['holons']?.['host'],
    });
    const classes = await fixture.env.sql(
      'select slug, effective_private, effective_name_read_only from directory.object_classes order by slug',
    );
    expect(classes).toEqual([
      { slug: 'event', effective_private: false, effective_name_read_only: true },
      { slug: 'group', effective_private: false, effective_name_read_only: false },
      { slug: 'retreat', effective_private: true, effective_name_read_only: true },
    ]);
    const [membership] = await fixture.env.sql(
      'select s.slug from directory.memberships m join directory.journey_steps s on s.id = m.step_id',
    );
    expect(membership).toEqual({ slug: 'held' });
  });

  it('changes nothing when the same workspace file is applied again', async () => {
    expect(await fixture.apply(document)).toMatchObject({ created: 0, updated: 0, unchanged: 13, diff: [] });
  });
});

describe('workspace apply: present and absent fields', () => {
  it('keeps fields, rows and lists that are absent from the file', async () => {
    const before = await snapshot(fixture);
    await expect(
      fixture.apply({ people: [{ key: 'ben' }], holons: [{ slug: 'spring', description: 'New' }] }),
    ).resolves.toMatchObject({
      created: 0,
      updated: 1,
      unchanged: 1,
      diff: [
        { list: 'holons', key: 'spring', action: 'update', fields: [{ field: 'description', old: '', new: 'New' }] },
      ],
    });
    await fixture.apply({ holons: [{ slug: 'spring', description: '' }] });
    expect(await snapshot(fixture)).toEqual(before);
  });

  it('merges objects of a workspace file by key, removes keys with null, and keeps large integers', async () => {
    await fixture.apply({
      people: [{ key: 'ada', contact: { phone: '1', email: null }, infos: { nested: { a: 1 } } }],
    });
    await fixture.apply({
      people: [{ key: 'ada', infos: parseJson('{"nested": {"b": [null]}, "__proto__": {"constructor": 1}}') }],
    });
    const [row] = await fixture.env.sql(`select contact::text, infos::text from directory.people where key = 'ada'`);
    expect(row).toEqual({
      contact: '{"phone": "1"}',
      infos: '{"big": 9007199254740993, "nested": {"a": 1, "b": [null]}, "__proto__": {"constructor": 1}}',
    });
    await fixture.apply({
      people: [
        {
          key: 'ada',
          contact: { phone: null, email: 'Ada@example.org' },
          infos: parseJson('{"nested": null, "__proto__": null}'),
        },
      ],
    });
  });

  it('keeps the ids of reordered questions and steps, and retires questions removed from the file', async () => {
    const questionsOf = async () => {
      const { items } = await fixture.call(directory.rpcs.getJourneys, { slugs: ['open-circle'] });
      return items[0]?.questions.map(({ id, text }) => [text, id]) ?? [];
    };
    const [now, next] = await questionsOf();
    await fixture.apply({ journeys: [{ slug: 'open-circle', questions: [{ text: 'What next?' }, { text: 'And?' }] }] });
    expect(await questionsOf()).toEqual([next, ['And?', expect.any(Number)]]);
    await fixture.apply({
      journeys: [{ slug: 'open-circle', questions: [{ text: 'What matters now?' }, { text: 'What next?' }] }],
    });
    expect(await questionsOf()).toEqual([now, next]);
  });

  it("keeps steps that are absent from the file, and changes updated_at only with a step's configuration (D16b)", async () => {
    const stepsOf = () =>
      fixture.env.sql('select slug, title, position, updated_at from directory.journey_steps order by id');
    const before = await stepsOf();
    await fixture.apply({ journeys: [{ slug: 'open-circle', steps: [{ slug: 'held', title: 'Held!', config: {} }] }] });
    const after = await stepsOf();
    expect(after).toEqual([{ ...before[0], title: 'Held!' }, before[1]]);
    await fixture.apply({
      journeys: [{ slug: 'open-circle', steps: [{ slug: 'held', title: 'Held', config: { a: { b: 1 } } }] }],
    });
    const [held] = await stepsOf();
    expect(String(held?.['updated_at']) > String(before[0]?.['updated_at'])).toBe(true);
    await expect(fixture.env.sql('select source, paths, account_id from directory.step_config_audit')).resolves.toEqual(
      [{ source: 'workspace', paths: ['a'], account_id: null }],
    );
  });

  it("uses the order of a holon's journeys in the file as catalogue order", async () => {
    const attached = async (): Promise<unknown[]> =>
      (
        await fixture.env.sql(
          'select j.slug from directory.holon_journeys a join directory.journeys j on j.id = a.journey_id order by a.position',
        )
      ).map((row) => row['slug']);
    await fixture.apply({ holons: [{ slug: 'spring', journeys: ['empty', 'open-circle'] }] });
    expect(await attached()).toEqual(['empty', 'open-circle']);
    await fixture.apply({ holons: [{ slug: 'spring', journeys: ['open-circle'] }] });
    expect(await attached()).toEqual(['open-circle']);
  });

  it('moves a membership to the step in the file, keeps an absent step, and removes a step with null', async () => {
    const stepOf = async (): Promise<unknown> =>
      (
        await fixture.env.sql(
          'select s.slug from directory.memberships m left join directory.journey_steps s on s.id = m.step_id',
        )
      )[0]?.['slug'];
    const membership = { person: 'ada', holon: 'spring', journey: 'open-circle' };
    await fixture.apply({ memberships: [{ ...membership, step: 'import' }] });
    expect(await stepOf()).toBe('import');
    await expect(fixture.apply({ memberships: [membership] })).resolves.toMatchObject({ unchanged: 1 });
    await fixture.apply({ memberships: [{ ...membership, step: null }] });
    expect(await stepOf()).toBeNull();
    await fixture.apply({ memberships: [{ ...membership, step: 'held' }] });
  });

  it('applies `private` and `name_read_only` of the new ancestors when a class moves (D48)', async () => {
    const flags = () =>
      fixture.env.sql(
        `select effective_private, effective_name_read_only from directory.object_classes where slug = 'retreat'`,
      );
    await fixture.apply({
      classes: [
        { slug: 'retreat', parent: null, private: false },
        { slug: 'group', private: true },
      ],
    });
    expect(await flags()).toEqual([{ effective_private: false, effective_name_read_only: false }]);
    await fixture.apply({ classes: [{ slug: 'retreat', parent: 'event' }] });
    expect(await flags()).toEqual([{ effective_private: true, effective_name_read_only: true }]);
    await fixture.apply({
      classes: [
        { slug: 'retreat', private: true },
        { slug: 'group', private: false },
      ],
    });
  });
});

describe('workspace apply: dry run', () => {
  it('reports changes of a dry run with the ids of existing items, and applies none', async () => {
    const before = await snapshot(fixture);
    const reply = await fixture.call(directory.rpcs.applyWorkspace, {
      document: {
        people: [
          { key: 'ada', name: 'Ada L.' },
          { key: 'new', name: 'New' },
        ],
        accounts: [{ email: 'ada@example.org', password: 'the second of them' }],
      },
      dry_run: true,
    });
    expect(reply).toMatchObject({ created: 1, updated: 2, unchanged: 0, ids: { people: { ada: expect.any(Number) } } });
    expect(Object.keys(reply.ids['people'] ?? {})).toEqual(['ada']);
    expect(reply.diff).toEqual([
      { list: 'people', key: 'ada', action: 'update', fields: [{ field: 'name', old: 'Ada', new: 'Ada L.' }] },
      { list: 'people', key: 'new', action: 'create', fields: [] },
      {
        list: 'accounts',
        key: 'ada@example.org',
        action: 'update',
        fields: [{ field: 'password', old: '(not shown)', new: '(not shown)' }],
      },
    ]);
    expect(JSON.stringify(reply)).not.toContain('second');
    expect(await snapshot(fixture)).toEqual(before);
  });
});

describe('workspace apply: events', () => {
  it('emits change events before the reply, and none for a dry run or without changes', async () => {
    const told: unknown[] = [];
    const stops = [
      fixture.bus.subscribeEvent(directory.events.peopleChanged, ({ ids }) => void told.push(['people', ids])),
      fixture.bus.subscribeEvent(directory.events.holonsChanged, ({ ids }) => void told.push(['holons', ids])),
      fixture.bus.subscribeEvent(directory.events.journeysChanged, ({ ids }) => void told.push(['journeys', ids])),
    ];
    const { ids } = await fixture.apply({
      people: [{ key: 'eve', name: 'Eve' }],
      holons: [{ slug: 'spring', journeys: ['empty'] }],
    });
    await waitFor(() => told.length >= 3);
    const journeys = await fixture.env.sql<{ id: number }>('select id from directory.journeys order by id');
    expect(told).toHaveLength(3);
    expect(told).toEqual(
      expect.arrayContaining([
        ['holons', [ids['holons']?.['spring']]],
        ['journeys', expect.arrayContaining(journeys.map(({ id }) => id))],
        ['people', [ids['people']?.['eve']]],
      ]),
    );
    told.length = 0;
    await fixture.apply({ people: [{ key: 'eve', name: 'Eve' }] });
    await fixture.apply({ people: [{ key: 'eva', name: 'Eva' }] });
    await waitFor(() => told.length > 0);
    expect(told).toHaveLength(1);
    for (const stop of stops) stop();
    await fixture.apply({ holons: [{ slug: 'spring', journeys: ['open-circle'] }] });
  });
});

describe('workspace apply: size and concurrency', () => {
  it('applies a file with thousands of people, uploaded in chunks, within the deadline of one call', async () => {
    const count = sized({ smoke: 8_000, release: 20_000 }); // more than one batch
    const people = Array.from({ length: count }, (_, index) => ({
      key: `bulk-${index}`,
      name: `Person ${index}`,
      contact: { email: `bulk-${index}@example.org` },
    }));
    const text = JSON.stringify({ people });
    const uploadId = 'a'.repeat(32);
    for (let part = 0; part * 500_000 < text.length; part++) {
      const slice = text.slice(part * 500_000, (part + 1) * 500_000);
      await fixture.call(directory.rpcs.uploadWorkspace, { upload_id: uploadId, part, text: slice });
    }
    const apply = () => fixture.call(directory.rpcs.applyWorkspace, { upload_id: uploadId, dry_run: false });
    const first = await apply();
    expect(first).toMatchObject({ created: count, diff_truncated: true });
    expect(Object.keys(first.ids['people'] ?? {})).toHaveLength(count);
    expect(await fixture.refusal(directory.rpcs.applyWorkspace, { upload_id: uploadId, dry_run: true })).toMatchObject({
      reason: 'upload_not_found',
    });
  });

  it('creates each item once when the same file is applied ten times concurrently', async () => {
    const file = { people: [{ key: 'race', name: 'Race' }], holons: [{ slug: 'race', name: 'Race', class: 'group' }] };
    const replies = await Promise.all(Array.from({ length: 10 }, () => fixture.apply(file)));
    expect(replies.map(({ created }) => created).toSorted((a, b) => b - a)).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(new Set(replies.map(({ ids }) => ids['people']?.['race'])).size).toBe(1);
  });
});
