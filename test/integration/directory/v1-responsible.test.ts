/**
 * The follow-up worklist with a real database: order, filters, visibility, and counts that equal the number of listed
 * items.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '#libs/infrastructure/orm';
import { foldTallies } from '../../../services/directory/worklist/statements.ts';
import { callers, startWorkflowFixture, rpcs, sees, type Caller, type WorkflowFixture } from './workflow-fixture.ts';

/** This instant is 4 May, 23:30 in UTC, and already 5 May in Berlin. */
const now = new Date('2026-05-04T23:30:00Z');
const memberships = [
  { key: 'late', person: 'ada', holon: 'hub', journey: 'join', follow_up_after: '2026-05-04', responsible: 'sam' },
  { key: 'very-late', person: 'ada', holon: 'camp-one', journey: 'join', follow_up_after: '2020-01-01' },
  { key: 'due', person: 'ben', holon: 'hub', journey: 'join', follow_up_after: '2026-05-05', responsible: 'sam' },
  { key: 'later', person: 'cleo', holon: 'hub', journey: 'join', follow_up_after: '2026-05-06' },
  { key: 'undated', person: 'dan', holon: 'hub', journey: null, responsible: 'sam' },
  {
    key: 'secret-late',
    person: 'ada',
    holon: 'vault',
    journey: 'join',
    follow_up_after: '2026-05-01',
    responsible: 'sam',
  },
  { key: 'secret-undated', person: 'ben', holon: 'cell', journey: 'join' },
] as const;
const relationships = [
  {
    key: 'r-late',
    from: 'hub',
    to: 'camp-one',
    journey: 'hosting',
    step: 'agreed',
    follow_up_after: '2026-05-04',
    responsible: 'sam',
  },
  { key: 'r-old', from: 'camp-old', to: 'empty', journey: 'hosting', follow_up_after: '2026-05-05' },
  { key: 'r-undated', from: 'empty', to: 'hub', journey: null },
  { key: 'r-secret', from: 'hub', to: 'vault', journey: 'hosting', follow_up_after: '2026-05-05', responsible: 'sam' },
  { key: 'r-both', from: 'cell', to: 'vault', journey: 'hosting' },
] as const;
/** All items in list order; items with the same date are ordered by id. */
const dates = new Map<string, string>(
  [...memberships, ...relationships].map((item) => [
    item.key,
    'follow_up_after' in item ? item.follow_up_after : '9999-99-99',
  ]),
);

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(
    import.meta.url,
    { memberships, relationships },
    { WORKLIST_TIME_ZONE: 'Europe/Berlin' },
    { clock: { now: () => BigInt(now.getTime()) * 1000n } },
  );
});
afterAll(() => fixture.stop());

const idOf = (key: string): number => fixture.id(key.startsWith('r-') ? 'relationships' : 'memberships', key);
const list = (query: object = {}, caller: Caller = 'root') =>
  fixture.call(rpcs.listResponsible, query, fixture.actor(caller));
type Item = Awaited<ReturnType<typeof list>>['items'][number];
const keyOf = ({ kind, id }: Item): string | undefined =>
  (kind === 'person' ? memberships : relationships).map(({ key }) => key).find((key) => idOf(key) === id);
const inOrder = (keys: readonly string[]): string[] =>
  keys.toSorted(
    (left, right) =>
      (dates.get(left) ?? '').localeCompare(dates.get(right) ?? '') ||
      idOf(left) - idOf(right) ||
      (left.startsWith('r-') ? 1 : -1),
  );
const visible = (caller: Caller): string[] => [
  ...memberships.filter(({ holon }) => sees(caller, holon)).map(({ key }) => key),
  ...relationships.filter(({ from, to }) => sees(caller, from) && sees(caller, to)).map(({ key }) => key),
];
async function expectList(query: object, expected: readonly string[], caller: Caller = 'root'): Promise<void> {
  const reply = await list(query, caller);
  expect(reply.items.map(keyOf)).toEqual(inOrder(expected));
  expect(reply).toMatchObject({ count: expected.length, has_more: false });
  // Paging returns the same items, and each page reports the same total.
  const paged: unknown[] = [];
  for (let offset = 0; offset < expected.length; offset += 2) {
    const page = await list({ ...query, limit: 2, offset }, caller);
    expect(page).toMatchObject({ count: expected.length, limit: 2, offset, has_more: offset + 2 < expected.length });
    paged.push(...page.items);
  }
  expect(paged).toEqual(reply.items);
}

describe('responsible (rules/memberships#worklist; D41, D47a)', () => {
  it('lists memberships and relationships by follow-up date, and those without a date last', async () => {
    await expectList(
      {},
      [...memberships, ...relationships].map(({ key }) => key),
    );
  });

  it('returns memberships with person and holon, and relationships with both holons', async () => {
    const { items } = await list();
    expect(items.find((item) => keyOf(item) === 'late')).toEqual({
      kind: 'person',
      id: idOf('late'),
      follow_up_after: '2026-05-04',
      journey_name: 'B join',
      step_title: 'Invited',
      responsible_person: expect.objectContaining({ name: 'Sam Stranger' }),
      person: expect.objectContaining({ name: 'Ada Löwe' }),
      holon: expect.objectContaining({ slug: 'hub', type: 'group' }),
    });
    expect(items.find((item) => keyOf(item) === 'r-undated')).toEqual({
      kind: 'holon',
      id: idOf('r-undated'),
      follow_up_after: null,
      journey_name: null,
      step_title: null,
      responsible_person: null,
      from_holon: expect.objectContaining({ slug: 'empty' }),
      to_holon: expect.objectContaining({ slug: 'hub' }),
    });
  });

  it.each(callers)('lists and counts for %s exactly the visible entries, with every filter (D48)', async (caller) => {
    const all = visible(caller);
    await expectList({}, all, caller);
    await expectList(
      { type: 'person' },
      all.filter((key) => !key.startsWith('r-')),
      caller,
    );
    await expectList(
      { when: 'overdue,future,today' },
      all.filter((key) => dates.get(key) !== '9999-99-99'),
      caller,
    );
    const sam = ['late', 'due', 'undated', 'secret-late', 'r-late', 'r-secret'];
    await expectList(
      { responsible: fixture.id('people', 'sam') },
      all.filter((key) => sam.includes(key)),
      caller,
    );
    await expectList(
      { type: 'closed' },
      all.filter((key) => ['r-secret', 'r-both'].includes(key)),
      caller,
    );
  });

  it.each([
    ['overdue', ['late', 'very-late', 'secret-late', 'r-late']],
    ['today', ['due', 'r-old', 'r-secret']],
    ['future', ['later']],
    ['overdue,today', ['late', 'very-late', 'secret-late', 'r-late', 'due', 'r-old', 'r-secret']],
    [' future , overdue ', ['late', 'very-late', 'secret-late', 'r-late', 'later']],
    ['today,future', ['due', 'r-old', 'r-secret', 'later']],
  ])('filters the worklist by %s in the configured time zone (D50)', async (when, expected) => {
    await expectList({ when }, expected);
    const sam = expected.filter((key) => ['late', 'due', 'secret-late', 'r-late', 'r-secret'].includes(key));
    await expectList({ when, responsible: fixture.id('people', 'sam') }, sam);
  });

  it.each([
    ['person', ['late', 'very-late', 'due', 'later', 'undated', 'secret-late', 'secret-undated']],
    ['camp', ['r-late', 'r-old']],
    ['old-camp', ['r-old']],
    ['group', ['r-late', 'r-old', 'r-undated', 'r-secret', 'r-both']],
    ['closed,camp', ['r-late', 'r-old', 'r-secret', 'r-both']],
    ['person,inner', ['late', 'very-late', 'due', 'later', 'undated', 'secret-late', 'secret-undated', 'r-both']],
  ])('filters the worklist by the type %s, including classes below it and retired ones', async (type, expected) => {
    await expectList({ type }, expected);
    const sam = expected.filter((key) => ['late', 'due', 'undated', 'secret-late', 'r-late', 'r-secret'].includes(key));
    await expectList({ type, responsible: fixture.id('people', 'sam') }, sam);
  });

  it('returns an empty worklist for an unknown person', async () => {
    expect(await list({ responsible: 0 })).toEqual({ count: 0, limit: 100, offset: 0, has_more: false, items: [] });
    await expectList({ responsible: fixture.id('people', 'ada') }, []);
  });

  it.each([{ type: 'nowhere' }, { type: 'person,Camp' }, { when: 'soon' }, { when: 'today,none' }])(
    'rejects the worklist filter %j with 400',
    async (query) => {
      expect(await fixture.refusal(rpcs.listResponsible, query, fixture.actor('root'))).toMatchObject({
        code: 'bad_request',
      });
    },
  );
});

describe('the counts of the worklist', () => {
  const countAll = async (caller: Caller): Promise<number> => (await list({ limit: 1 }, caller)).count;

  it('every write updates the worklist counts: dates, class changes, removed holons and people', async () => {
    await fixture.add({
      people: [{ key: 'temp', name: 'Temp' }],
      holons: [{ slug: 'brief', name: 'Brief', class: 'group', parent: 'hub' }],
    });
    const before = await countAll('sam');
    await fixture.add({
      memberships: [
        { key: 'temp-brief', person: 'temp', holon: 'brief', journey: 'join', follow_up_after: '2026-05-09' },
        { key: 'temp-hub', person: 'temp', holon: 'hub', journey: 'join' },
      ],
      relationships: [{ key: 'brief-hub', from: 'brief', to: 'hub', journey: 'hosting' }],
    });
    expect(await countAll('sam')).toBe(before + 3);
    expect((await list({ when: 'future' }, 'sam')).count).toBe(2);
    await fixture.add({
      memberships: [
        { key: 'temp-brief', person: 'temp', holon: 'brief', journey: 'join', follow_up_after: '2026-05-05' },
      ],
    });
    expect((await list({ when: 'future' }, 'sam')).count).toBe(1);

    await fixture.add({ holons: [{ slug: 'brief', class: 'closed' }] });
    expect(await countAll('sam')).toBe(before + 1);
    expect(await countAll('above')).toBe(await countAll('root'));
    expect((await list({ type: 'closed' }, 'above')).count).toBe(3);
    await fixture.add({ holons: [{ slug: 'brief', class: 'camp' }] });
    expect(await countAll('sam')).toBe(before + 3);
    expect((await list({ type: 'camp' }, 'sam')).items.map(({ id }) => id)).toContain(
      fixture.id('relationships', 'brief-hub'),
    );

    await fixture.env.sql(`delete from directory.people where key = 'temp'`);
    expect(await countAll('sam')).toBe(before + 1);
    await fixture.env.sql(`delete from directory.holons where slug = 'brief'`);
    expect(await countAll('sam')).toBe(before);
    await expectList(
      {},
      [...memberships, ...relationships].map(({ key }) => key),
    );
  });

  it('updates the worklist counts when a class becomes private or public', async () => {
    const before = await countAll('sam');
    await fixture.add({ classes: [{ slug: 'camp', private: true }] });
    await expectList(
      {},
      visible('sam').filter((key) => !['very-late', 'r-late', 'r-old'].includes(key)),
      'sam',
    );
    await expectList(
      {},
      visible('sam').filter((key) => key !== 'r-old'),
      'beside',
    );
    await fixture.add({ classes: [{ slug: 'camp', private: false }] });
    expect(await countAll('sam')).toBe(before);
  });

  it('keeps the worklist counts unchanged when tallies are folded', async () => {
    const rows = async () =>
      Number(
        (await fixture.env.sql<{ n: string }>('select count(*)::text as n from directory.membership_tallies'))[0]?.n,
      );
    const [before, counts] = [await rows(), await Promise.all(callers.map(countAll))];
    const db = await createDatabase({
      url: fixture.env.settings['DATABASE_URL'] ?? '',
      schema: 'directory',
      poolSize: 2,
      logger: fixture.env.logger,
      applicationName: 'test',
    });
    await Promise.all([foldTallies(db), foldTallies(db)]);
    await db.close();
    expect(await rows()).toBeLessThan(before);
    const twice = await fixture.env.sql(
      'select 1 from directory.membership_tallies group by holon_class_id, whole, follow_up_after having count(*) > 1 or sum(amount) = 0',
    );
    expect(twice).toEqual([]);
    expect(await Promise.all(callers.map(countAll))).toEqual(counts);
  });
});
