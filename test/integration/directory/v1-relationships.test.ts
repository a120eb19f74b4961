/** Holon relationships and their updates with a real database, for every kind of caller. */
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

const relationships = [
  {
    key: 'hub-camp',
    from: 'hub',
    to: 'camp-one',
    journey: 'hosting',
    step: 'asked',
    follow_up_after: '2026-05-01',
    responsible: 'sam',
  },
  { key: 'annex-hub', from: 'annex', to: 'hub', journey: 'hosting', step: 'agreed' },
  { key: 'hub-empty', from: 'hub', to: 'empty', journey: null },
  { key: 'hub-hub', from: 'hub', to: 'hub', journey: 'bare' },
  { key: 'hub-vault', from: 'hub', to: 'vault', journey: 'hosting' },
  { key: 'vault-cell', from: 'vault', to: 'cell', journey: 'hosting' },
] as const;
const places = relationships.flatMap(({ key, from, to }) => callers.map((caller) => [caller, key, from, to] as const));

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, { relationships });
});
afterAll(() => fixture.stop());

const id = (key: string): number => fixture.id('relationships', key);
const ofHolon = (query: object = {}, caller: Caller = 'root', holon = 'hub') =>
  fixture.call(rpcs.listHolonRelationships, { holon_id: fixture.id('holons', holon), ...query }, fixture.actor(caller));
const update = (key: string, request: object, caller: Caller = 'ed') =>
  fixture.call(
    rpcs.updateRelationship,
    { relationship_id: id(key), note: 'A note', ...request },
    fixture.actor(caller),
  );

describe('relationships of a holon (rules/memberships#relationship-list; D48)', () => {
  it('lists relationships from and to a holon, by journey name, name of the other holon and id', async () => {
    const { count, items } = await ofHolon();
    expect(count).toBe(5);
    expect(items.map((item) => item.relationship_id)).toEqual(
      ['hub-hub', 'annex-hub', 'hub-camp', 'hub-vault', 'hub-empty'].map(id),
    );
    expect(items[2]).toEqual({
      relationship_id: id('hub-camp'),
      from_holon: expect.objectContaining({ slug: 'hub', type: 'group', parent_id: null }),
      to_holon: expect.objectContaining({ slug: 'camp-one', type: 'camp', parent_id: fixture.id('holons', 'hub') }),
      journey_name: 'Hosting',
      step_title: 'Asked',
      follow_up_after: '2026-05-01',
      responsible_person: expect.objectContaining({ name: 'Sam Stranger' }),
    });
    expect(items[4]).toMatchObject({
      journey_name: null,
      step_title: null,
      follow_up_after: null,
      responsible_person: null,
    });
  });

  it('returns relationships up to the limit, with the count of all', async () => {
    const reply = await ofHolon({ limit: 2 });
    expect([Object.keys(reply), reply.count, reply.items.length]).toEqual([['count', 'items'], 5, 2]);
  });

  it.each(callers.flatMap((caller) => ['hub', 'vault', 'cell', 'annex'].map((holon) => [caller, holon] as const)))(
    'lists to %s the relationships of %s of which both holons are visible',
    async (caller, holon) => {
      const expected = relationships.filter(
        ({ from, to }) => [from, to].includes(holon as 'hub') && sees(caller, from) && sees(caller, to),
      );
      const answer = await fixture.attempt(() => ofHolon({}, caller, holon));
      if (!sees(caller, holon)) return expect(answer).toBe('not_found');
      const { count, items } = answer as Awaited<ReturnType<typeof ofHolon>>;
      expect(count).toBe(expected.length);
      expect(new Set(items.map((item) => item.relationship_id))).toEqual(new Set(expected.map(({ key }) => id(key))));
    },
  );

  it('omits the parent of a related holon if the caller cannot see the parent', async () => {
    const { items } = await ofHolon({}, 'sam', 'annex');
    expect(items[0]?.from_holon).toMatchObject({ slug: 'annex', parent_id: null });
    expect((await ofHolon({}, 'vera', 'annex')).items[0]?.from_holon).toMatchObject({
      parent_id: fixture.id('holons', 'vault'),
    });
  });
});

describe('relationships.update (rules/memberships#updates; D46)', () => {
  it('updates step and date of a relationship, with a note in the feeds of both holons', async () => {
    const reply = await update('hub-camp', { note: ' Agreed ', step_slug: 'agreed', follow_up_after: '2026-06-01' });
    expect(reply).toEqual({
      relationship: expect.objectContaining({
        relationship_id: id('hub-camp'),
        step_title: 'Agreed',
        follow_up_after: '2026-06-01',
      }),
      note: expect.objectContaining({
        body: 'Agreed',
        note_type: 'note',
        author_person: expect.objectContaining({ name: 'Ed Editor' }),
      }),
      changes: {
        current_step: { old: 'asked', new: 'agreed' },
        follow_up_after: { old: '2026-05-01', new: '2026-06-01' },
      },
    });
    for (const holon of ['hub', 'camp-one']) {
      const notes = await fixture.call(
        rpcs.listNotesOfHolon,
        { holon_id: fixture.id('holons', holon) },
        fixture.actor('sam'),
      );
      expect(notes.items.filter(({ id: note }) => note === reply.note.id)).toEqual([reply.note]);
    }
  });

  it('advances a relationship without a step to the first, and then up to the last, and finally returns 400', async () => {
    await fixture.add({
      relationships: [{ key: 'advance', from: 'empty', to: 'camp-old', journey: 'hosting', step: null }],
    });
    expect((await update('advance', { advance_step: true })).changes).toEqual({
      current_step: { old: null, new: 'asked' },
    });
    expect((await update('advance', { advance_step: true })).changes).toEqual({
      current_step: { old: 'asked', new: 'agreed' },
    });
    expect(await fixture.attempt(() => update('advance', { advance_step: true }))).toBe('bad_request');
  });

  it.each([
    ['an empty note', { note: '  ' }],
    ['a malformed date', { follow_up_after: '01.05.2026' }],
    ['an unknown step', { step_slug: 'nowhere' }],
    ['both step controls', { step_slug: 'asked', advance_step: true }],
  ])('rejects a relationship update with %s with 400 and changes nothing', async (_what, request) => {
    const read = async () => (await ofHolon()).items.find((item) => item.relationship_id === id('annex-hub'));
    const before = await read();
    expect(await fixture.attempt(() => update('annex-hub', { follow_up_after: '2026-07-01', ...request }))).toBe(
      'bad_request',
    );
    expect(await read()).toEqual(before);
  });

  it('rejects steps for a relationship without a journey', async () => {
    expect(await fixture.attempt(() => update('hub-empty', { advance_step: true }))).toBe('bad_request');
    expect(await fixture.attempt(() => update('hub-empty', { step_slug: 'asked' }))).toBe('bad_request');
  });

  it.each(places)(
    'requires both holons visible and one editable for %s updating %s from %s to %s',
    async (caller, key, from, to) => {
      const visible = sees(caller, from) && sees(caller, to);
      const editable = edits(caller, from) || edits(caller, to);
      const answer = await fixture.attempt(() => update(key, {}, caller));
      expect(answer).toEqual(
        visible ? (editable ? expect.objectContaining({ changes: {} }) : 'permission_denied') : 'not_found',
      );
    },
  );

  it('returns 404 for an unknown relationship', async () => {
    const request = { relationship_id: 2_000_000_000, note: 'x' };
    expect(await fixture.refusal(rpcs.updateRelationship, request, fixture.actor('root'))).toMatchObject({
      code: 'not_found',
    });
  });

  it('serializes concurrent updates of one relationship', async () => {
    const steps = Array.from({ length: 21 }, (_, index) => ({ slug: `s${index}`, title: `S${index}` }));
    await fixture.add({
      journeys: [{ slug: 'long', name: 'Long', steps }],
      relationships: [{ key: 'parallel', from: 'empty', to: 'camp-one', journey: 'long', step: 's0' }],
    });
    const replies = await Promise.all(Array.from({ length: 20 }, () => update('parallel', { advance_step: true })));
    expect(new Set(replies.map(({ changes }) => changes.current_step?.new))).toEqual(
      new Set(steps.slice(1).map(({ slug }) => slug)),
    );
  });
});
