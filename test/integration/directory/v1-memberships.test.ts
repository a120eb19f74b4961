/** Lists and updates of memberships with a real database, for every kind of caller. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  callers,
  startWorkflowFixture,
  edits,
  rpcs,
  sees,
  type Caller,
  type WorkflowFixture,
} from './workflow-fixture.ts';

const today = '2026-03-01';
const clock = { now: () => BigInt(Date.parse(`${today}T12:00:00Z`)) * 1_000n };
const memberships = [
  {
    key: 'ada-hub',
    person: 'ada',
    holon: 'hub',
    journey: 'join',
    step: 'invited',
    follow_up_after: '2020-01-01',
    responsible: 'sam',
  },
  { key: 'ada-hub-steward', person: 'ada', holon: 'hub', journey: 'steward', follow_up_after: '2999-01-01' },
  { key: 'ada-hub-none', person: 'ada', holon: 'hub', journey: null },
  { key: 'ben-hub', person: 'ben', holon: 'hub', journey: 'join', step: 'joined', follow_up_after: today },
  { key: 'cleo-hub', person: 'cleo', holon: 'hub', journey: 'join', step: null },
  { key: 'ada-camp', person: 'ada', holon: 'camp-one', journey: 'join' },
  { key: 'ada-vault', person: 'ada', holon: 'vault', journey: 'join', follow_up_after: '2020-01-01' },
  { key: 'ben-vault', person: 'ben', holon: 'vault', journey: 'join' },
  { key: 'ada-cell', person: 'ada', holon: 'cell', journey: 'steward' },
  { key: 'ada-annex', person: 'ada', holon: 'annex', journey: 'join' },
] as const;
type Key = (typeof memberships)[number]['key'];

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, { memberships }, {}, { clock });
});
afterAll(() => fixture.stop());

const id = (key: string): number => fixture.id('memberships', key);
const keysOf = (items: readonly { membership_id: number }[]): (string | undefined)[] =>
  items.map((item) => memberships.find(({ key }) => id(key) === item.membership_id)?.key);
const ofPerson = (query: object = {}, caller: Caller = 'root', person = 'ada') =>
  fixture.call(
    rpcs.listPersonMemberships,
    { person_id: fixture.id('people', person), ...query },
    fixture.actor(caller),
  );
const ofHolon = (query: object = {}, caller: Caller = 'root', holon = 'hub') =>
  fixture.call(rpcs.listHolonMemberships, { holon_id: fixture.id('holons', holon), ...query }, fixture.actor(caller));
const update = (key: string, request: object, caller: Caller = 'ed') =>
  fixture.call(rpcs.updateMembership, { membership_id: id(key), note: 'A note', ...request }, fixture.actor(caller));
const refusal = (key: string, request: object, caller: Caller = 'ed') =>
  fixture.refusal(rpcs.updateMembership, { membership_id: id(key), note: 'A note', ...request }, fixture.actor(caller));
/** Creates a membership for one test and returns its key. */
async function fresh(key: string, more: object = {}): Promise<string> {
  await fixture.add({
    people: [{ key: `person-${key}`, name: `Person ${key}` }],
    memberships: [{ key, person: `person-${key}`, holon: 'camp-one', journey: 'join', step: 'invited', ...more }],
  });
  return key;
}

describe('memberships of a person (rules/memberships#membership-lists; D48)', () => {
  it("lists a person's memberships by journey name and holon name, each with its holon, without timestamps", async () => {
    const reply = await ofPerson();
    expect(keysOf(reply.items)).toEqual([
      'ada-cell',
      'ada-hub-steward',
      'ada-annex',
      'ada-camp',
      'ada-hub',
      'ada-vault',
      'ada-hub-none',
    ]);
    expect({ ...reply, items: [] }).toEqual({ count: 7, limit: 50, offset: 0, has_more: false, items: [] });
    expect(reply.items.find(({ membership_id: own }) => own === id('ada-hub'))).toEqual({
      membership_id: id('ada-hub'),
      holon: {
        id: fixture.id('holons', 'hub'),
        name: 'Hub',
        slug: 'hub',
        type: 'group',
        description: '',
        parent_id: null,
        logo_url: null,
        links: {},
      },
      journey_name: 'B join',
      journey_slug: 'join',
      step_title: 'Invited',
      step_slug: 'invited',
      follow_up_after: '2020-01-01',
      responsible_person: {
        id: fixture.id('people', 'sam'),
        name: 'Sam Stranger',
        description: '',
        photo_url: null,
        actor_kind: 'human',
        contact: {},
      },
    });
    expect(reply.items.at(-1)).toMatchObject({
      journey_name: null,
      journey_slug: null,
      step_title: null,
      step_slug: null,
    });
  });

  it("returns a person's memberships in pages, with a total count", async () => {
    expect(await ofPerson({ limit: 3, offset: 3 })).toMatchObject({ count: 7, limit: 3, offset: 3, has_more: true });
    expect(await ofPerson({ limit: 3, offset: 6 })).toMatchObject({ count: 7, has_more: false, items: [{}] });
    expect(await ofPerson({ offset: 7 })).toMatchObject({ count: 7, has_more: false, items: [] });
  });

  it.each(callers)('omits memberships in private holons that %s cannot see, in items and count', async (caller) => {
    const expected = memberships.filter(({ person, holon }) => person === 'ada' && sees(caller, holon));
    const reply = await ofPerson({}, caller);
    expect(reply.count).toBe(expected.length);
    expect(new Set(keysOf(reply.items))).toEqual(new Set(expected.map(({ key }) => key)));
    expect(reply.items).toHaveLength(expected.length);
  });

  it('returns 404 for the memberships of an unknown person', async () => {
    const request = { person_id: 2_000_000_000 };
    expect(await fixture.refusal(rpcs.listPersonMemberships, request, fixture.actor('root'))).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('memberships in a holon (rules/memberships#membership-lists; D47a)', () => {
  const byName = ['ada-hub-steward', 'ada-hub', 'ben-hub', 'cleo-hub', 'ada-hub-none'] satisfies Key[];

  it("lists a holon's memberships by journey name, person name and id, each with its person", async () => {
    const reply = await ofHolon();
    expect(keysOf(reply.items)).toEqual(byName);
    expect(reply).toMatchObject({ count: 5, limit: 50, offset: 0, has_more: false });
    expect(reply.items[0]).toMatchObject({ person: { name: 'Ada Löwe' }, journey_slug: 'steward' });
    expect(Object.keys(reply.items[0] ?? {})).not.toContain('holon');
    expect(Object.keys(reply.items[0]?.person ?? {})).not.toContain('created_at');
  });

  it.each([
    ['name', byName],
    ['-name', byName.toReversed()],
    ['follow_up_after', ['ada-hub', 'ben-hub', 'ada-hub-steward', 'ada-hub-none', 'cleo-hub']],
    ['-follow_up_after', ['ada-hub-steward', 'ben-hub', 'ada-hub', 'ada-hub-none', 'cleo-hub']],
    ['person_created', ['cleo-hub', 'ben-hub', 'ada-hub', 'ada-hub-steward', 'ada-hub-none']],
    ['-person_created', ['ada-hub-none', 'ada-hub-steward', 'ada-hub', 'ben-hub', 'cleo-hub']],
  ] as const)('sorts memberships by %s', async (sort, expected) => {
    // The latest member has the oldest creation date.
    await fixture.env.sql(
      `update directory.people set created_at = '2026-01-01'::timestamptz - make_interval(days => id)`,
    );
    const { items } = await ofHolon({ sort });
    const undated = (key: string | undefined) => key === 'ada-hub-none' || key === 'cleo-hub';
    if (!sort.endsWith('follow_up_after')) return expect(keysOf(items)).toEqual(expected);
    expect(keysOf(items).filter((key) => !undated(key))).toEqual(expected.filter((key) => !undated(key)));
    expect(keysOf(items).slice(-2).every(undated)).toBe(true);
  });

  it.each([
    [{ q: 'LOWE' }, ['ada-hub-steward', 'ada-hub', 'ada-hub-none']],
    [{ q: 'gärden' }, ['cleo-hub']],
    [{ q: 'ada@EXAMPLE' }, ['ada-hub-steward', 'ada-hub', 'ada-hub-none']],
    [{ q: '100%' }, ['ada-hub-steward', 'ada-hub', 'ada-hub-none']],
    [{ q: '%' }, ['ada-hub-steward', 'ada-hub', 'ada-hub-none']],
    [{ q: '_' }, ['ben-hub']],
    [{ q: 'nobody' }, []],
    [{ journey: 'join' }, ['ada-hub', 'ben-hub', 'cleo-hub']],
    [{ journey: 'JOIN' }, []],
    [{ journey: 'nowhere' }, []],
    [{ step_slug: 'joined' }, ['ben-hub']],
    [{ step_slug: 'nowhere' }, []],
    [{ follow_up: 'overdue' }, ['ada-hub']],
    [{ follow_up: 'today' }, ['ben-hub']],
    [{ follow_up: 'future' }, ['ada-hub-steward']],
    [{ follow_up: 'none' }, ['cleo-hub', 'ada-hub-none']],
    [{ journey: 'join', follow_up: 'none' }, ['cleo-hub']],
    [{ responsible_person_id: 0 }, []],
  ])('filters memberships in a holon by %j, and counts only the matches', async (query, expected) => {
    const reply = await ofHolon(query);
    expect(keysOf(reply.items)).toEqual(expected);
    expect(reply.count).toBe(expected.length);
    expect(await ofHolon({ ...query, limit: 1 })).toMatchObject({
      count: expected.length,
      has_more: expected.length > 1,
    });
  });

  it('filters memberships in a holon by responsible person', async () => {
    expect(keysOf((await ofHolon({ responsible_person_id: fixture.id('people', 'sam') })).items)).toEqual(['ada-hub']);
    expect((await ofHolon({ responsible_person_id: fixture.id('people', 'ben') })).items).toEqual([]);
  });

  it.each([{ sort: 'created' }, { sort: '' }, { follow_up: 'soon' }, { follow_up: '' }])(
    'rejects the membership filter %j with 400',
    async (query) => {
      const request = { holon_id: fixture.id('holons', 'hub'), ...query };
      expect(await fixture.refusal(rpcs.listHolonMemberships, request, fixture.actor('root'))).toMatchObject({
        code: 'bad_request',
      });
    },
  );

  it.each(callers.flatMap((caller) => ['vault', 'cell', 'hub'].map((holon) => [caller, holon] as const)))(
    'lists to %s the memberships in %s, or returns 404 if the holon is invisible',
    async (caller, holon) => {
      const answer = await fixture.attempt(() => ofHolon({}, caller, holon));
      const expected = memberships.filter((item) => item.holon === holon).length;
      expect(answer).toEqual(sees(caller, holon) ? expect.objectContaining({ count: expected }) : 'not_found');
    },
  );
});

describe('memberships.update (rules/memberships#updates; D46, D46a)', () => {
  it('updates step, date and responsible person of a membership together, and returns the changes', async () => {
    const key = await fresh('all');
    const request = {
      note: '  Said <b>yes</b>\n ',
      step_slug: 'alumni',
      follow_up_after: '2026-09-01',
      responsible_person_id: fixture.id('people', 'sam'),
    };
    const reply = await update(key, request);
    expect(reply).toEqual({
      membership: expect.objectContaining({
        membership_id: id(key),
        person: expect.objectContaining({ name: 'Person all' }),
        holon: expect.objectContaining({ slug: 'camp-one', parent_id: fixture.id('holons', 'hub') }),
        journey_slug: 'join',
        step_slug: 'alumni',
        step_title: 'Alumni',
        follow_up_after: '2026-09-01',
        responsible_person: expect.objectContaining({ name: 'Sam Stranger' }),
      }),
      note: {
        id: expect.any(Number),
        body: 'Said <b>yes</b>',
        note_type: 'note',
        created_at: expect.stringMatching(/^20.*Z$/),
        author_person: expect.objectContaining({ name: 'Ed Editor' }),
      },
      changes: { current_step: { old: 'invited', new: 'alumni' }, follow_up_after: { old: null, new: '2026-09-01' } },
    });
    const cleared = await update(key, { follow_up_after: null, responsible_person_id: null });
    expect(cleared).toMatchObject({
      membership: { follow_up_after: null, responsible_person: null, step_slug: 'alumni' },
    });
    expect(cleared.changes).toEqual({ follow_up_after: { old: '2026-09-01', new: null } });
  });

  it('adds the note of a membership update to the feeds of person and holon, even without other changes', async () => {
    const key = await fresh('feeds');
    const { note, changes } = await update(key, { note: 'Only a note' });
    expect(changes).toEqual({});
    const actor = fixture.actor('sam');
    const person = await fixture.call(
      rpcs.listNotesOfPerson,
      { person_id: fixture.id('people', 'person-feeds') },
      actor,
    );
    const holon = await fixture.call(rpcs.listNotesOfHolon, { holon_id: fixture.id('holons', 'camp-one') }, actor);
    expect(person).toEqual({ count: 1, limit: 50, items: [note] });
    expect(holon.items[0]).toEqual(note);
  });

  it('accepts notes of at most 100,000 characters', async () => {
    const note = 'n'.repeat(100_000);
    expect((await update('ada-camp', { note })).note.body).toBe(note);
    expect((await refusal('ada-camp', { note: `${note}n` })).message).toContain('100000 characters');
  });

  it('omits unchanged values and the responsible person from the returned changes', async () => {
    const key = await fresh('same', { follow_up_after: '2026-01-01' });
    const request = {
      step_slug: 'invited',
      follow_up_after: '2026-01-01',
      responsible_person_id: fixture.id('people', 'sam'),
    };
    const { membership, changes } = await update(key, request);
    expect(changes).toEqual({});
    expect(membership.responsible_person).toMatchObject({ name: 'Sam Stranger' });
  });

  it('advances a membership over archived steps, up to the last step', async () => {
    const key = await fresh('advance', { step: null });
    const seen: unknown[] = [];
    for (let move = 0; move < 3; move++) seen.push((await update(key, { advance_step: true })).changes);
    expect(seen).toEqual([
      { current_step: { old: null, new: 'invited' } },
      { current_step: { old: 'invited', new: 'joined' } },
      { current_step: { old: 'joined', new: 'alumni' } },
    ]);
    expect(await refusal(key, { advance_step: true })).toMatchObject({ code: 'bad_request' });
  });

  it('moves a membership to an own or inherited journey of the catalogue, even if the journey does not allow bulk addition', async () => {
    const key = await fresh('journeys', { step: 'joined' });
    expect((await update(key, { journey_slug: 'steward', step_slug: 'joined' })).changes).toEqual({
      journey: { old: 'join', new: 'steward' },
      current_step: { old: 'joined', new: 'joined' },
    });
    expect((await update(key, { journey_slug: 'build', step_slug: 'plan' })).membership).toMatchObject({
      journey_slug: 'build',
      journey_name: 'D build',
      step_slug: 'plan',
    });
    expect((await update(key, { journey_slug: 'build', step_slug: 'plan' })).changes).toEqual({});
  });

  it('rejects a second membership on the same journey, and does not add its note', async () => {
    const key = await fresh('twice');
    await fixture.add({
      memberships: [{ key: 'twice-2', person: 'person-twice', holon: 'camp-one', journey: 'steward' }],
    });
    const error = await refusal(key, { journey_slug: 'steward', step_slug: 'asked', follow_up_after: '2026-01-01' });
    expect(error).toMatchObject({ code: 'bad_request', message: expect.stringContaining('already') });
    const reply = await ofPerson({}, 'root', 'person-twice');
    expect(reply.items.map((item) => [item.journey_slug, item.follow_up_after])).toEqual([
      ['steward', null],
      ['join', null],
    ]);
    const notes = await fixture.call(
      rpcs.listNotesOfPerson,
      { person_id: fixture.id('people', 'person-twice') },
      fixture.actor('root'),
    );
    expect(notes.count).toBe(0);
  });

  it.each([
    ['an empty note', { note: ' \n\t' }],
    ['a malformed date', { follow_up_after: '2026-02-30' }],
    ['an empty date', { follow_up_after: '' }],
    ['an unknown step', { step_slug: 'nowhere' }],
    ['an archived step', { step_slug: 'left' }],
    ['both step controls', { step_slug: 'joined', advance_step: true }],
    ['advance_step with a journey', { journey_slug: 'steward', advance_step: true }],
    ['a journey without a step', { journey_slug: 'steward' }],
    ['a step of the old journey with a journey', { journey_slug: 'steward', step_slug: 'alumni' }],
    ['an unknown journey', { journey_slug: 'nowhere', step_slug: 'joined' }],
    ['a journey outside the catalogue', { journey_slug: 'foreign', step_slug: 'start' }],
    ['an unknown person as responsible', { responsible_person_id: 2_000_000_000 }],
    ['an impossible person as responsible', { responsible_person_id: 9_007_199_254_740_991 }],
  ])('rejects a membership update with %s with 400', async (_what, request) => {
    expect(await refusal('ada-camp', request)).toMatchObject({ code: 'bad_request' });
  });

  it('rejects a responsible person without an account', async () => {
    expect(await refusal('ada-camp', { responsible_person_id: fixture.id('people', 'ben') })).toMatchObject({
      code: 'bad_request',
    });
  });

  it('rejects steps for a membership without a journey', async () => {
    expect(await refusal('ada-hub-none', { step_slug: 'joined' })).toMatchObject({ code: 'bad_request' });
    expect(await refusal('ada-hub-none', { advance_step: true })).toMatchObject({ code: 'bad_request' });
  });

  const places = [
    ['ada-hub', 'hub'],
    ['ada-camp', 'camp-one'],
    ['ada-vault', 'vault'],
    ['ada-cell', 'cell'],
    ['ada-annex', 'annex'],
  ] as const;
  it.each(callers.flatMap((caller) => places.map(([key, holon]) => [caller, key, holon] as const)))(
    'checks visibility, then rights, then input for %s updating %s in %s: 404 before 403 before 400',
    async (caller, key, holon) => {
      const expected = sees(caller, holon) ? (edits(caller, holon) ? 'bad_request' : 'permission_denied') : 'not_found';
      expect(await fixture.attempt(() => update(key, { note: ' ' }, caller))).toBe(expected);
      const answer = await fixture.attempt(() => update(key, {}, caller));
      expect(answer).toEqual(expected === 'bad_request' ? expect.objectContaining({ changes: {} }) : expected);
    },
  );

  it('returns 404 for an unknown membership', async () => {
    const request = { membership_id: 2_000_000_000, note: ' ' };
    expect(await fixture.refusal(rpcs.updateMembership, request, fixture.actor('root'))).toMatchObject({
      code: 'not_found',
    });
  });

  it('adds the note of a membership update without an author if the account has no person', async () => {
    const key = await fresh('nobody');
    expect((await update(key, {}, 'root')).note.author_person).toBeNull();
  });

  it('serializes 50 concurrent updates of one membership', async () => {
    const steps = Array.from({ length: 60 }, (_, index) => ({ slug: `s${index}`, title: `S${index}` }));
    await fixture.add({
      journeys: [{ slug: 'long', name: 'Long', steps }],
      classes: [{ slug: 'camp', journeys: ['build', 'long'] }],
    });
    const key = await fresh('parallel', { journey: 'long', step: 's0' });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => update(key, { note: `${index}`, advance_step: true })),
    );
    const moves = replies.map(({ changes }) => `${changes.current_step?.old} ${changes.current_step?.new}`);
    expect(moves.toSorted()).toEqual(Array.from({ length: 50 }, (_, index) => `s${index} s${index + 1}`).toSorted());
    const request = { person_id: fixture.id('people', 'person-parallel'), limit: 200 };
    expect((await fixture.call(rpcs.listNotesOfPerson, request, fixture.actor('root'))).count).toBe(50);
  });

  it("accepts only one of two concurrent moves of a person's memberships to the same journey", async () => {
    const key = await fresh('race');
    await fixture.add({ memberships: [{ key: 'race-2', person: 'person-race', holon: 'camp-one', journey: 'bare' }] });
    const request = { journey_slug: 'steward', step_slug: 'asked' };
    const answers = await Promise.all([key, 'race-2'].map((one) => fixture.attempt(() => update(one, request))));
    expect(answers.filter((answer) => answer === 'bad_request')).toHaveLength(1);
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1);
  });
});
