/** Notes that callers write, change and delete (W4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contextFor } from '#libs/product/testing';
import {
  callers,
  edits,
  rpcs,
  sees,
  startWorkflowFixture,
  type Caller,
  type WorkflowFixture,
} from './workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, {
    memberships: [{ key: 'ada-hub', person: 'ada', holon: 'hub', journey: 'join' }],
  });
});
afterAll(() => fixture.stop());

const holon = (slug: string): number => fixture.id('holons', slug);
const person = (key: string): number => fixture.id('people', key);
const writeOnPerson = (request: { body: string; holon_id?: number | null }, caller: Caller = 'ed', key = 'ada') =>
  fixture.call(rpcs.createPersonNote, { person_id: person(key), ...request }, fixture.actor(caller));
const writeOnHolon = (slug: string, caller: Caller = 'root') =>
  fixture.call(rpcs.createHolonNote, { holon_id: holon(slug), body: 'A note' }, fixture.actor(caller));
const bodiesOf = async (of: 'person' | 'holon', id: number, caller: Caller = 'root') => {
  const page = await (of === 'person'
    ? fixture.call(rpcs.listNotesOfPerson, { person_id: id }, fixture.actor(caller))
    : fixture.call(rpcs.listNotesOfHolon, { holon_id: id }, fixture.actor(caller)));
  return page.items.map(({ body }) => body);
};
const update = (id: number, caller: Caller, more: { body?: string; if_match?: string } = {}) =>
  fixture.call(rpcs.updateNote, { note_id: id, body: 'Changed', ...more }, fixture.actor(caller));
const remove = (id: number, caller: Caller, more: { if_match?: string } = {}) =>
  fixture.call(rpcs.deleteNote, { note_id: id, ...more }, fixture.actor(caller));
const outcomeOf = (call: () => Promise<unknown>) => fixture.attempt(async () => (await call(), 'ok'));

describe('createPersonNote (W4)', () => {
  it('writes a trimmed note with its author, listed for the person only', async () => {
    const { note } = await writeOnPerson({ body: '  Likes tea.\nAnd lakes. ' }, 'ed', 'cleo');
    expect(note).toMatchObject({
      body: 'Likes tea.\nAnd lakes.',
      note_type: 'note',
      author_person: { id: person('ed') },
    });
    expect(await bodiesOf('person', person('cleo'))).toEqual([note.body]);
  });

  it('with a holon lists the note for both', async () => {
    await writeOnPerson({ body: 'In the annex.', holon_id: holon('annex') }, 'vera', 'cleo');
    expect((await bodiesOf('person', person('cleo')))[0]).toBe('In the annex.');
    expect((await bodiesOf('holon', holon('annex')))[0]).toBe('In the annex.');
  });

  it.each(callers)('for %s: needs global edit access without a holon', async (caller) => {
    const outcome = await outcomeOf(() => writeOnPerson({ body: 'A note', holon_id: null }, caller));
    expect(outcome).toBe(['ed', 'root'].includes(caller) ? 'ok' : 'permission_denied');
  });

  it.each(callers.flatMap((caller) => ['hub', 'vault', 'cell', 'annex'].map((slug) => [caller, slug] as const)))(
    'for %s with the holon %s: needs the right to edit it, and treats an invisible holon as unknown',
    async (caller, slug) => {
      const outcome = await outcomeOf(() => writeOnPerson({ body: 'A note', holon_id: holon(slug) }, caller));
      expect(outcome).toBe(!sees(caller, slug) ? 'bad_request' : edits(caller, slug) ? 'ok' : 'permission_denied');
    },
  );

  it('rejects blank notes, unknown holons and unknown people', async () => {
    const actor = fixture.actor('root');
    for (const request of [
      { person_id: person('ada'), body: ' \u200b ' },
      { person_id: person('ada'), body: 'x', holon_id: 999_999 },
      { person_id: person('ada'), body: 'x', holon_id: 2 ** 40 },
    ])
      expect(await fixture.refusal(rpcs.createPersonNote, request, actor)).toMatchObject({ code: 'bad_request' });
    for (const id of [999_999, 0, 2 ** 40])
      expect(
        await fixture.refusal(rpcs.createPersonNote, { person_id: id, body: 'x' }, fixture.actor('sam')),
      ).toMatchObject({
        code: 'not_found',
      });
  });

  it('has one effect per Idempotency-Key', async () => {
    const context = { ...contextFor(rpcs.createPersonNote, fixture.actor('ed')), sentIdempotencyKey: 'note-once' };
    const request = { person_id: person('dan'), body: 'Once.' };
    const first = await fixture.bus.call(rpcs.createPersonNote, request, context);
    expect(await fixture.bus.call(rpcs.createPersonNote, request, context)).toEqual(first);
    expect(await bodiesOf('person', person('dan'))).toEqual(['Once.']);
  });
});

describe('createHolonNote (W4)', () => {
  it.each(callers.flatMap((caller) => ['hub', 'vault', 'cell', 'annex'].map((slug) => [caller, slug] as const)))(
    'for %s on %s: needs the right to edit the holon, and hides invisible holons',
    async (caller, slug) => {
      const outcome = await outcomeOf(() => writeOnHolon(slug, caller));
      expect(outcome).toBe(!sees(caller, slug) ? 'not_found' : edits(caller, slug) ? 'ok' : 'permission_denied');
    },
  );

  it('rejects a blank note', async () => {
    const request = { holon_id: holon('hub'), body: '\n' };
    expect(await fixture.refusal(rpcs.createHolonNote, request, fixture.actor('ed'))).toMatchObject({
      code: 'bad_request',
    });
  });
});

describe('updateNote and deleteNote (W4)', () => {
  it('the author changes a note; the reply has the changed field', async () => {
    const { note } = await writeOnPerson({ body: 'Before' }, 'ed', 'eve');
    const reply = await update(note.id, 'ed', { body: ' After ' });
    expect(reply).toEqual({ note: { ...note, body: 'After' }, changes: { body: { old: 'Before', new: 'After' } } });
    expect(await bodiesOf('person', person('eve'))).toEqual(['After']);
    expect((await update(note.id, 'ed', { body: 'After' })).changes).toEqual({});
    expect(await outcomeOf(() => update(note.id, 'ed', { body: ' ' }))).toBe('bad_request');
    await remove(note.id, 'ed');
    expect(await bodiesOf('person', person('eve'))).toEqual([]);
    expect(await outcomeOf(() => update(note.id, 'ed'))).toBe('not_found');
  });

  it.each(callers)('for %s: only the author and superusers change a note of another caller', async (caller) => {
    const { note } = await writeOnPerson({ body: 'Of Vera', holon_id: holon('annex') }, 'vera');
    const expected = ['vera', 'root'].includes(caller) ? 'ok' : 'permission_denied';
    expect([await outcomeOf(() => update(note.id, caller)), await outcomeOf(() => remove(note.id, caller))]).toEqual([
      expected,
      expected,
    ]);
  });

  it.each(callers)('for %s: a note on a private holon is hidden without sight of it', async (caller) => {
    const { note } = await writeOnPerson({ body: 'Secret', holon_id: holon('vault') }, 'vera');
    const expected = !sees(caller, 'vault')
      ? 'not_found'
      : ['vera', 'root'].includes(caller)
        ? 'ok'
        : 'permission_denied';
    expect(await outcomeOf(() => update(note.id, caller))).toBe(expected);
    expect(await outcomeOf(() => remove(note.id, caller))).toBe(expected);
  });

  it('the note of a membership update can be changed by its author', async () => {
    const request = { membership_id: fixture.id('memberships', 'ada-hub'), note: 'Called.' };
    const { note } = await fixture.call(rpcs.updateMembership, request, fixture.actor('above'));
    expect(await outcomeOf(() => update(note.id, 'above'))).toBe('ok');
    expect((await bodiesOf('holon', holon('hub')))[0]).toBe('Changed');
  });

  it('system notes and notes of other services cannot be changed, also by superusers and their author', async () => {
    for (const [type, key] of [
      ['system', null],
      ['booking', 'booking/1'],
      ['note', 'conversation/1'],
    ]) {
      const [row] = await fixture.env.sql<{ id: number }>(
        `with note as (insert into directory.notes (body, note_type, dedupe_key, author_person_id) values ('x', $1, $2, $3) returning id, created_at)
         insert into directory.person_notes (person_id, note_id, created_at) select $3, id, created_at from note returning note_id as id`,
        [type, key, person('ed')],
      );
      for (const caller of ['root', 'ed'] as const) {
        expect(await outcomeOf(() => update(row?.id ?? 0, caller))).toBe('permission_denied');
        expect(await outcomeOf(() => remove(row?.id ?? 0, caller))).toBe('permission_denied');
      }
    }
  });

  it('a note without an author can be changed by superusers only', async () => {
    const { note } = await writeOnHolon('hub', 'beside').catch(() => writeOnHolon('camp-one', 'beside'));
    expect(note.author_person).toBeNull();
    expect(await outcomeOf(() => update(note.id, 'beside'))).toBe('permission_denied');
    expect(await outcomeOf(() => update(note.id, 'root'))).toBe('ok');
  });

  it('compares If-Match with the ETag of the note', async () => {
    const { note } = await writeOnHolon('hub');
    const raw = await fixture.bus.callRaw(
      rpcs.updateNote,
      { note_id: note.id, body: 'Tagged' },
      contextFor(rpcs.updateNote, fixture.actor('root')),
    );
    expect(await outcomeOf(() => update(note.id, 'root', { if_match: '"other"' }))).toBe('precondition_failed');
    expect(await outcomeOf(() => remove(note.id, 'root', { if_match: '"other"' }))).toBe('precondition_failed');
    expect(await outcomeOf(() => remove(note.id, 'root', { if_match: raw.etag ?? '' }))).toBe('ok');
  });

  it('is not_found for unknown and impossible ids', async () => {
    for (const id of [999_999, 0, -1, 2 ** 40]) {
      expect(await outcomeOf(() => update(id, 'root'))).toBe('not_found');
      expect(await outcomeOf(() => remove(id, 'root'))).toBe('not_found');
    }
  });
});
