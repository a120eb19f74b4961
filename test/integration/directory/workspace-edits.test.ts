/** Edits over the API beside a workspace file: what a diff marks and what `keep_edits` leaves alone (rules/workspace#edits-over-the-api; W11, W24). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { holdLocks } from '../../hold-locks.ts';
import { type DirectoryFixture, startDirectoryFixture } from './fixture.ts';

const { applyWorkspace, updatePerson, updateHolon } = directory.rpcs;

let fixture: DirectoryFixture;
let ids: Record<string, Record<string, number>>;

interface Values {
  readonly name?: string;
  readonly phone?: string;
  readonly email?: string;
  readonly circle?: string;
  readonly theme?: string;
  readonly title?: string;
  readonly model?: string;
  readonly size?: number;
}

const file = ({
  name = 'Ada',
  phone = '1',
  email = 'ada@example.org',
  circle = 'Circle',
  theme = 'soil',
  title = 'Welcome',
  model = 'small',
  size = 1,
}: Values = {}) => ({
  classes: [
    {
      slug: 'group',
      label: 'Group',
      config: {
        info_field_groups: [
          { key: 'g', label: 'G', fields: ['theme', 'place'].map((key) => ({ key, type: 'text', label: key })) },
        ],
      },
    },
  ],
  journeys: [
    {
      slug: 'join',
      name: 'Join',
      steps: [
        { slug: 'welcome', title, config: { model, size } },
        { slug: 'member', title: 'Member' },
      ],
    },
    { slug: 'leave', name: 'Leave', steps: [{ slug: 'asked', title: 'Asked' }] },
  ],
  people: [{ key: 'ada', name, contact: { email, phone } }],
  holons: [
    { slug: 'circle', name: circle, class: 'group', locations: ['DE'], infos: { theme, place: 'barn' } },
    { slug: 'shed', name: 'Shed', class: 'group' },
  ],
  accounts: [{ email: 'ada@example.org', person: 'ada', teams: [{ holon: 'shed' }] }],
  memberships: [{ person: 'ada', holon: 'circle', journey: 'join', step: 'welcome' }],
});

const apply = (document: unknown, options: { dry_run?: boolean; keep_edits?: boolean } = {}) =>
  fixture.call(applyWorkspace, { document, dry_run: false, ...options });
type Changes = Awaited<ReturnType<typeof apply>>['diff'];
const marked = (changes: Changes) =>
  changes.map((change) => ({
    ...change,
    fields: change.fields.map((field) => ({ ...field, edited: field.edited === true })),
  }));
const diff = async (document: unknown) => marked((await apply(document, { dry_run: true })).diff);
/** Records a change of an object as the API would, for operations that are tested elsewhere. */
const edit = async (kind: string, id: number, sql: string, changes: object, deletedKey?: string) => {
  await fixture.env.sql(sql, []);
  await fixture.env.sql(
    `insert into directory.history (object_kind, object_id, object_key, via, action, changes) values ($1, $2, nullif($3, ''), 'api', $4, $5)`,
    [kind, id, deletedKey ?? '', deletedKey === undefined ? 'update' : 'delete', JSON.stringify(changes)],
  );
};
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  ({ ids } = await apply(file()));
});
afterAll(() => fixture.stop());

describe('a person who was changed over the API (W24)', () => {
  it('is marked per field, and per key of contact', async () => {
    const contact: Record<string, string> = { phone: '2' };
    await fixture.call(updatePerson, { person_id: idOf('people', 'ada'), name: 'Ada Okafor', contact });
    expect(await diff(file({ email: 'new@example.org' }))).toEqual([
      {
        list: 'people',
        key: 'ada',
        action: 'update',
        edited: true,
        fields: [
          { field: 'name', old: 'Ada Okafor', new: 'Ada', edited: true },
          {
            field: 'contact',
            old: { email: 'ada@example.org', phone: '2' },
            new: { email: 'new@example.org', phone: '1' },
            edited: true,
          },
        ],
      },
    ]);
    const [change] = await diff({ people: [{ key: 'ada', contact: { email: 'new@example.org' } }] });
    expect(change).toMatchObject({ fields: [{ field: 'contact', edited: false }] });
  });

  it('keeps edited fields and gets the others with keep_edits', async () => {
    const { diff: changes } = await apply(file({ email: 'new@example.org' }), { keep_edits: true });
    expect(marked(changes)).toMatchObject([{ fields: [{ field: 'contact', edited: false }] }]);
    const [person] = await fixture.env.sql<{ name: string; contact: string }>(
      `select name, contact::text as contact from directory.people where key = 'ada'`,
    );
    expect(person?.name).toBe('Ada Okafor');
    expect(JSON.parse(person?.contact ?? '')).toEqual({ email: 'new@example.org', phone: '2' });
  });

  it('keeps an edit that is committed while the file is applied with keep_edits', async () => {
    await apply(file());
    const id = idOf('people', 'ada');
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const waitForWaiting = (count: number) => waitFor(async () => (await fixture.env.sql(waiting)).length >= count);
    const release = await holdLocks(fixture.env, 'select from directory.people where id = $1 for update', [id]);
    const edited = fixture.call(updatePerson, { person_id: id, name: 'Ada at once' });
    await waitForWaiting(1);
    const applied = apply(file({ name: 'Of the file' }), { keep_edits: true });
    await waitForWaiting(2);
    await release();
    await Promise.all([edited, applied]);
    expect(await fixture.env.sql('select name from directory.people where id = $1', [id])).toEqual([
      { name: 'Ada at once' },
    ]);
    await apply(file());
  });

  it('is not marked after the file was applied without keep_edits', async () => {
    await apply(file());
    expect(await diff(file({ name: 'Countess' }))).toMatchObject([
      { key: 'ada', fields: [{ field: 'name', edited: false }] },
    ]);
    expect(await diff(file())).toEqual([]);
  });
});

describe('a holon that was changed over the API (W24)', () => {
  it('is marked per info field', async () => {
    await fixture.call(updateHolon, { holon_id: idOf('holons', 'circle'), info_fields: { theme: 'water' } });
    expect(await diff(file({ circle: 'Ring' }))).toMatchObject([
      {
        key: 'circle',
        fields: [
          { field: 'name', edited: false },
          { field: 'infos', edited: true },
        ],
      },
    ]);
    await apply(file({ circle: 'Ring' }), { keep_edits: true });
    const [holon] = await fixture.env.sql<{ name: string; theme: string }>(
      `select name, infos ->> 'theme' as theme from directory.holons where slug = 'circle'`,
    );
    expect(holon).toEqual({ name: 'Ring', theme: 'water' });
    await apply(file());
  });

  it('is created again only without keep_edits when it was deleted', async () => {
    await fixture.env.sql('delete from directory.team_authority');
    const changes = { name: { old: 'Shed', new: null } };
    await edit('holons', idOf('holons', 'shed'), `delete from directory.holons where slug = 'shed'`, changes, 'shed');
    expect(await diff(file())).toEqual([
      {
        list: 'holons',
        key: 'shed',
        action: 'create',
        edited: true,
        fields: [
          { field: 'name', old: null, new: 'Shed', edited: true },
          { field: 'class', old: null, new: 'group', edited: true },
        ],
      },
      {
        list: 'accounts',
        key: 'ada@example.org',
        action: 'update',
        fields: [expect.objectContaining({ edited: false })],
      },
    ]);
    expect(await apply(file(), { keep_edits: true })).toMatchObject({ created: 0, updated: 0 });
    expect(await apply(file())).toMatchObject({ created: 1 });
    expect(await diff(file())).toEqual([]);
  });
});

describe('a journey that was changed over the API (W24)', () => {
  it('is marked per field of a step, and per key of its configuration', async () => {
    const id = idOf('journeys', 'join');
    await edit(
      'journeys',
      id,
      `update directory.journey_steps set config = '{"model":"large","size":1}', position = 5 where slug = 'welcome'`,
      {
        'steps.welcome.config': { old: { model: 'small', size: 1 }, new: { model: 'large', size: 1 } },
        'steps.welcome.position': { old: 0, new: 5 },
      },
    );
    expect(await diff(file({ title: 'Hello', size: 2 }))).toMatchObject([
      {
        key: 'join',
        fields: [
          { field: 'steps.welcome.title', edited: false },
          { field: 'steps.welcome.position', edited: true },
          { field: 'steps.welcome.config', old: '(not shown)', new: '(not shown)', edited: true },
        ],
      },
    ]);
    await apply(file({ title: 'Hello', size: 2 }), { keep_edits: true });
    const [step] = await fixture.env.sql<{ title: string; position: number; config: string }>(
      `select title, position, config::text as config from directory.journey_steps where slug = 'welcome'`,
    );
    expect(step).toEqual({ title: 'Hello', position: 5, config: '{"size": 2, "model": "large"}' });
    await apply(file());
  });

  it('does not get a step back that was deleted, with keep_edits', async () => {
    const changes = { 'steps.member.title': { old: 'Member', new: null } };
    await edit(
      'journeys',
      idOf('journeys', 'join'),
      `delete from directory.journey_steps where slug = 'member'`,
      changes,
    );
    expect(await diff(file())).toMatchObject([{ key: 'join', fields: [{ field: 'steps.member', edited: true }] }]);
    expect(await apply(file(), { keep_edits: true })).toMatchObject({ created: 0, updated: 0 });
    expect(await apply(file())).toMatchObject({ updated: 1 });
  });
});

describe('a membership that was changed over the API (W24)', () => {
  const membership = (): number => idOf('memberships', 'ada/circle/join');

  it('keeps its step', async () => {
    await edit(
      'memberships',
      membership(),
      `update directory.memberships set step_id = (select id from directory.journey_steps where slug = 'member')`,
      { step_slug: { old: 'welcome', new: 'member' } },
    );
    expect(await diff(file())).toMatchObject([
      { list: 'memberships', fields: [{ field: 'step', old: 'member', new: 'welcome', edited: true }] },
    ]);
    expect(await apply(file(), { keep_edits: true })).toMatchObject({ updated: 0 });
    await apply(file());
  });

  it('is not created again when it moved to another journey or was deleted', async () => {
    await edit(
      'memberships',
      membership(),
      `update directory.memberships set step_id = null, journey_id = (select id from directory.journeys where slug = 'leave')`,
      { journey_slug: { old: 'join', new: 'leave' } },
    );
    const expected = [{ list: 'memberships', key: 'ada/circle/join', action: 'create', edited: true }];
    expect(await diff(file())).toMatchObject(expected);
    expect(await apply(file(), { keep_edits: true })).toMatchObject({ created: 0, updated: 0 });
    await edit(
      'memberships',
      membership(),
      'delete from directory.memberships',
      {
        person_id: { old: idOf('people', 'ada'), new: null },
        holon_id: { old: idOf('holons', 'circle'), new: null },
        journey_slug: { old: 'join', new: null },
      },
      '',
    );
    expect(await diff(file())).toMatchObject(expected);
    expect(await apply(file(), { keep_edits: true })).toMatchObject({ created: 0, updated: 0 });
    expect(await apply(file())).toMatchObject({ created: 1 });
  });
});

describe('the terms of a diff (W24)', () => {
  it('are the fields of the file, with keys and slugs in place of ids', async () => {
    await apply({
      spheres: [{ key: 'soil', name: 'Soil' }],
      classes: [{ slug: 'yard', label: 'Yard', allowed_children: ['group'] }],
      journeys: [{ slug: 'visit', name: 'Visit', applies_to: 'yard', steps: [{ slug: 'asked' }, { slug: 'seen' }] }],
      people: [{ key: 'kim', name: 'Kim' }],
      holons: [
        { slug: 'yard', name: 'Yard', class: 'yard', spheres: ['soil'], locations: ['DE'], journeys: ['visit'] },
        { slug: 'hut', name: 'Hut', class: 'group', parent: 'yard' },
      ],
      accounts: [{ email: 'kim@example.org', person: 'kim' }],
      memberships: [{ person: 'kim', holon: 'hut', journey: 'visit', step: 'seen', responsible: 'kim' }],
    });
    const changes = await diff({
      classes: [{ slug: 'yard', parent: 'group', allowed_children: [] }],
      journeys: [{ slug: 'visit', applies_to: 'group' }],
      holons: [
        { slug: 'yard', spheres: [], locations: ['FR'], journeys: ['join', 'visit'] },
        { slug: 'hut', parent: null },
      ],
      accounts: [{ email: 'kim@example.org', person: 'ada', active: false, teams: [{ holon: 'hut' }] }],
      memberships: [{ person: 'kim', holon: 'hut', journey: 'visit', step: 'asked', responsible: null }],
    });
    expect(
      changes.map(({ key, fields }) => [key, fields.map(({ field, old, new: next }) => [field, old, next])]),
    ).toEqual([
      [
        'yard',
        [
          ['parent', null, 'group'],
          ['allowed_children', ['group'], []],
        ],
      ],
      ['visit', [['applies_to', 'yard', 'group']]],
      [
        'yard',
        [
          ['locations', ['DE'], ['FR']],
          ['spheres', ['soil'], []],
          ['journeys', ['visit'], ['join', 'visit']],
        ],
      ],
      ['hut', [['parent', 'yard', null]]],
      [
        'kim@example.org',
        [
          ['person', 'kim', 'ada'],
          ['active', true, false],
          ['teams.hut', null, 'active'],
        ],
      ],
      [
        'kim/hut/visit',
        [
          ['step', 'seen', 'asked'],
          ['responsible', 'kim', null],
        ],
      ],
    ]);
  });
});
