/**
 * Creation and deletion of memberships and relationships, for every kind of caller (rules/memberships#create-and-delete;
 * W3).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import type { AppError } from '#libs/infrastructure/errors';
import { contextFor } from '#libs/product/testing';
import {
  type Caller,
  callers,
  edits,
  rpcs,
  sees,
  startWorkflowFixture,
  type WorkflowFixture,
} from './workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, {
    memberships: [{ key: 'ada-hub', person: 'ada', holon: 'hub', journey: 'join', step: 'invited' }],
    relationships: [{ key: 'hub-vault', from: 'hub', to: 'vault', journey: 'hosting', step: 'asked' }],
  });
});
afterAll(() => fixture.stop());

const holon = (slug: string): number => fixture.id('holons', slug);
const person = (key: string): number => fixture.id('people', key);
const membershipRequest = (more: object = {}) => ({
  person_id: person('ben'),
  holon_id: holon('hub'),
  journey_slug: 'join',
  ...more,
});
const relationshipRequest = (more: object = {}) => ({
  from_holon_id: holon('hub'),
  to_holon_id: holon('camp-one'),
  ...more,
});
const join = (more: object = {}, caller: Caller = 'ed') =>
  fixture.call(rpcs.createMembership, membershipRequest(more), fixture.actor(caller));
const refuseJoin = (more: object = {}, caller: Caller = 'ed') =>
  fixture.refusal(rpcs.createMembership, membershipRequest(more), fixture.actor(caller));
const relate = (more: object = {}, caller: Caller = 'ed') =>
  fixture.call(rpcs.createRelationship, relationshipRequest(more), fixture.actor(caller));
const refuseRelate = (more: object = {}, caller: Caller = 'ed') =>
  fixture.refusal(rpcs.createRelationship, relationshipRequest(more), fixture.actor(caller));

/** Returns the id of a new person. */
async function newPerson(): Promise<number> {
  const made = await fixture.call(rpcs.createPerson, { name: 'New' }, fixture.actor('root'));
  return made.person.id;
}

/** Returns the reply with its ETag. */
async function callTagged<R extends Rpc>(
  rpc: R,
  request: RequestOf<R>,
  caller: Caller,
): Promise<{ reply: ReplyOf<R>; etag: string }> {
  const raw = await fixture.bus.callRaw(rpc, request, contextFor(rpc, fixture.actor(caller)));
  if (raw.kind !== 'bytes') throw new Error('a stream');
  return { reply: JSON.parse(Buffer.from(raw.bytes).toString()) as ReplyOf<R>, etag: raw.etag ?? '' };
}

/** Returns history entries, newest first. */
const historyOf = async (kind: 'memberships' | 'relationships', id: number) =>
  (await fixture.call(rpcs.listHistory, { kind, id: String(id) }, fixture.actor('ed'))).items;
describe('createMembership (W3)', () => {
  it('creates a membership at the first active step of the journey, as memberships are returned', async () => {
    const personId = await newPerson();
    const { membership } = await join({ person_id: personId });
    expect(membership).toMatchObject({
      membership_id: expect.any(Number),
      person: { id: personId },
      holon: { id: holon('hub') },
      journey_slug: 'join',
      step_slug: 'invited',
      follow_up_after: null,
      responsible_person: null,
    });
  });

  it('takes step, follow-up date, responsible person and a note, which is listed for person and holon', async () => {
    const personId = await newPerson();
    const { membership } = await join({
      person_id: personId,
      step_slug: 'joined',
      follow_up_after: '2031-05-01',
      responsible_person_id: person('sam'),
      note: ' Met at the lake. ',
    });
    expect(membership).toMatchObject({
      step_slug: 'joined',
      follow_up_after: '2031-05-01',
      responsible_person: { id: person('sam') },
    });
    const ofPerson = await fixture.call(rpcs.listNotesOfPerson, { person_id: personId }, fixture.actor('ed'));
    const ofHolon = await fixture.call(rpcs.listNotesOfHolon, { holon_id: holon('hub') }, fixture.actor('ed'));
    expect(ofPerson.items).toMatchObject([{ body: 'Met at the lake.', author_person: { id: person('ed') } }]);
    expect(ofHolon.items[0]).toEqual(ofPerson.items[0]);
  });

  it('has no step on a journey without active steps, and takes null for absent fields', async () => {
    const personId = await newPerson();
    const nulls = { step_slug: null, follow_up_after: null, responsible_person_id: null, note: null };
    const { membership } = await join({ person_id: personId, journey_slug: 'bare', ...nulls });
    expect(membership).toMatchObject({ journey_slug: 'bare', step_slug: null });
  });

  it.each(
    callers.flatMap((caller) =>
      ['hub', 'camp-one', 'vault', 'cell', 'annex', 'empty'].map((slug) => [caller, slug] as const),
    ),
  )(
    'for %s in %s: needs the right to edit the holon, and treats an invisible holon as unknown',
    async (caller, slug) => {
      const request = membershipRequest({ holon_id: holon(slug), person_id: await newPerson() });
      const code = await fixture.attempt(async () => {
        await fixture.call(rpcs.createMembership, request, fixture.actor(caller));
        return 'created';
      });
      expect(code).toBe(!sees(caller, slug) ? 'bad_request' : edits(caller, slug) ? 'created' : 'permission_denied');
    },
  );

  it('answers an invisible holon exactly as an unknown one', async () => {
    const [hidden, unknown] = [
      await refuseJoin({ holon_id: holon('vault') }, 'beside'),
      await refuseJoin({ holon_id: 999_999 }, 'beside'),
    ];
    expect(hidden.toBody()).toEqual(unknown.toBody());
  });

  it.each([
    ['an unknown person', { person_id: 999_999 }],
    ['an impossible person', { person_id: -1 }],
    ['an impossible holon', { holon_id: 2 ** 40 }],
    ['an unknown journey', { journey_slug: 'absent' }],
    ['a journey outside of the catalogue', { journey_slug: 'foreign' }],
    ['an archived step', { step_slug: 'left' }],
    ['an unknown step', { step_slug: 'absent' }],
    ['a malformed date', { follow_up_after: '2031-02-30' }],
    ['a blank note', { note: ' \u200b ' }],
  ])('rejects %s and writes nothing', async (_what, more) => {
    const personId = await newPerson();
    expect(await refuseJoin({ person_id: personId, ...more })).toMatchObject({ code: 'bad_request' });
    const { count } = await fixture.call(rpcs.listPersonMemberships, { person_id: personId }, fixture.actor('ed'));
    expect(count).toBe(0);
  });

  it('rejects a responsible person without an account', async () => {
    expect(await refuseJoin({ person_id: await newPerson(), responsible_person_id: person('ben') })).toMatchObject({
      code: 'bad_request',
    });
  });

  it('reports an existing membership with its id, whatever the other fields are (409 already_present)', async () => {
    expect(await refuseJoin({ person_id: person('ada'), step_slug: 'joined' })).toMatchObject({
      code: 'conflict',
      reason: 'already_present',
      details: { membership_id: fixture.id('memberships', 'ada-hub') },
    });
  });

  it('creates one membership of concurrent equal requests and reports its id to the others', async () => {
    const personId = await newPerson();
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => join({ person_id: personId })));
    const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as AppError] : []));
    expect(created).toHaveLength(1);
    const id = created[0]?.membership.membership_id;
    expect(refused.map(({ reason, details }) => [reason, details['membership_id']])).toEqual(
      Array.from({ length: 5 }, () => ['already_present', id]),
    );
  });

  it('has one effect and one response per Idempotency-Key', async () => {
    const request = membershipRequest({ person_id: await newPerson(), note: 'Once.' });
    const context = { ...contextFor(rpcs.createMembership, fixture.actor('ed')), sentIdempotencyKey: 'join-once' };
    const first = await fixture.bus.call(rpcs.createMembership, request, context);
    expect(await fixture.bus.call(rpcs.createMembership, request, context)).toEqual(first);
    const notes = await fixture.call(rpcs.listNotesOfPerson, { person_id: request.person_id }, fixture.actor('ed'));
    expect(notes.count).toBe(1);
  });

  it('records the creation with null as every old value (W10)', async () => {
    const personId = await newPerson();
    const { membership } = await join({ person_id: personId });
    expect(await historyOf('memberships', membership.membership_id)).toMatchObject([
      {
        actor: { account_id: expect.any(Number) },
        via: 'api',
        changes: { person_id: { old: null, new: personId }, step_slug: { old: null, new: 'invited' } },
      },
    ]);
  });
});

describe('changes of memberships (W10)', () => {
  it('records changed fields of an update, and nothing for an update that only adds a note', async () => {
    const { membership } = await join({ person_id: await newPerson() });
    const update = (request: object) =>
      fixture.call(
        rpcs.updateMembership,
        { membership_id: membership.membership_id, note: 'A note', ...request },
        fixture.actor('ed'),
      );
    await update({});
    await update({ step_slug: 'joined', responsible_person_id: person('sam') });
    const [entry, ...older] = await historyOf('memberships', membership.membership_id);
    expect(entry?.changes).toEqual({
      step_slug: { old: 'invited', new: 'joined' },
      responsible_person_id: { old: null, new: person('sam') },
    });
    expect(older).toHaveLength(1);
  });

  it('records memberships of bulk-add and of a new person', async () => {
    const personId = await newPerson();
    const added = await fixture.call(
      rpcs.bulkAddMemberships,
      {
        holon_id: holon('hub'),
        journey_slug: 'join',
        memberships: [{ person_id: personId }, { person_id: person('ada') }],
      },
      fixture.actor('ed'),
    );
    const ids = added.items.map((item) => item.membership_id ?? 0);
    expect(await historyOf('memberships', ids[0] ?? 0)).toHaveLength(1);
    expect((await historyOf('memberships', ids[1] ?? 0)).map(({ via }) => via)).toEqual(['file']);
    const made = await fixture.call(
      rpcs.createPerson,
      { name: 'Nora', membership: { holon_id: holon('hub'), journey_slug: 'join' } },
      fixture.actor('ed'),
    );
    expect(await historyOf('memberships', made.membership?.membership_id ?? 0)).toHaveLength(1);
  });
});

describe('deleteMembership (W3)', () => {
  const remove = (id: number, caller: Caller = 'ed', ifMatch?: string) =>
    fixture.call(rpcs.deleteMembership, { membership_id: id, if_match: ifMatch ?? null }, fixture.actor(caller));

  it('deletes the membership; its notes remain with person and holon (W17)', async () => {
    const personId = await newPerson();
    const { membership } = await join({ person_id: personId, note: 'Stays.' });
    await remove(membership.membership_id);
    const { count } = await fixture.call(rpcs.listPersonMemberships, { person_id: personId }, fixture.actor('ed'));
    const ofPerson = await fixture.call(rpcs.listNotesOfPerson, { person_id: personId }, fixture.actor('ed'));
    const ofHolon = await fixture.call(rpcs.listNotesOfHolon, { holon_id: holon('hub') }, fixture.actor('ed'));
    expect([count, ofPerson.items[0]?.body, ofHolon.items[0]?.body]).toEqual([0, 'Stays.', 'Stays.']);
    expect(
      await fixture.refusal(rpcs.deleteMembership, { membership_id: membership.membership_id }, fixture.actor('ed')),
    ).toMatchObject({ code: 'not_found' });
  });

  it.each(callers.flatMap((caller) => ['hub', 'vault', 'cell', 'annex'].map((slug) => [caller, slug] as const)))(
    'for %s in %s: needs the right to edit the holon, and hides memberships of invisible holons',
    async (caller, slug) => {
      const { membership } = await join({ person_id: await newPerson(), holon_id: holon(slug) }, 'root');
      const outcome = await fixture.attempt(async () => {
        await remove(membership.membership_id, caller);
        return 'deleted';
      });
      expect(outcome).toBe(!sees(caller, slug) ? 'not_found' : edits(caller, slug) ? 'deleted' : 'permission_denied');
    },
  );

  it('is not_found for unknown and impossible ids', async () => {
    for (const id of [999_999, 0, -1, 2 ** 40])
      expect(await fixture.refusal(rpcs.deleteMembership, { membership_id: id }, fixture.actor('root'))).toMatchObject({
        code: 'not_found',
      });
  });

  it('records the last values (W10)', async () => {
    const personId = await newPerson();
    const { membership } = await join({ person_id: personId });
    await remove(membership.membership_id);
    const [entry] = await fixture.env.sql<{ action: string; changes: string }>(
      `select action, changes from directory.history where object_kind = 'memberships' and object_id = $1 order by id desc limit 1`,
      [membership.membership_id],
    );
    expect(entry?.action).toBe('delete');
    expect(JSON.parse(entry?.changes ?? '')).toMatchObject({ person_id: { old: personId, new: null } });
  });

  it('compares If-Match with the tag of the current membership, which is equal for all callers (W12)', async () => {
    const context = (caller: Caller) => contextFor(rpcs.updateMembership, fixture.actor(caller));
    // The parent of the cell is private: `below` sees the cell without it.
    const made = membershipRequest({ person_id: await newPerson(), holon_id: holon('cell') });
    const created = await callTagged(rpcs.createMembership, made, 'root');
    const { membership } = created.reply;
    const request = { membership_id: membership.membership_id, note: 'Tag.' };
    const tagOf = async (caller: Caller) =>
      (await fixture.bus.callRaw(rpcs.updateMembership, request, context(caller))).etag ?? '';
    const tag = await tagOf('below');
    expect([tag, tag]).toEqual([await tagOf('root'), created.etag]);
    expect(
      await fixture.refusal(
        rpcs.deleteMembership,
        { membership_id: membership.membership_id, if_match: '"other"' },
        fixture.actor('ed'),
      ),
    ).toMatchObject({ code: 'precondition_failed' });
    await remove(membership.membership_id, 'below', tag);
  });
});

describe('createRelationship (W3)', () => {
  it('creates a relationship without and with a journey', async () => {
    const plain = await relate({ from_holon_id: holon('empty') });
    expect(plain.relationship).toMatchObject({
      from_holon: { id: holon('empty') },
      to_holon: { id: holon('camp-one') },
      journey_name: null,
      step_title: null,
    });
    const { relationship } = await relate({
      journey_slug: 'hosting',
      step_slug: 'agreed',
      follow_up_after: '2031-05-01',
      responsible_person_id: person('sam'),
      note: 'Both agree.',
    });
    expect(relationship).toMatchObject({
      journey_name: 'Hosting',
      step_title: 'Agreed',
      follow_up_after: '2031-05-01',
      responsible_person: { id: person('sam') },
    });
    for (const slug of ['hub', 'camp-one']) {
      const notes = await fixture.call(rpcs.listNotesOfHolon, { holon_id: holon(slug) }, fixture.actor('ed'));
      expect(notes.items[0]?.body).toBe('Both agree.');
    }
  });

  it('starts at the first active step of the journey', async () => {
    const { relationship } = await relate({
      from_holon_id: holon('camp-one'),
      to_holon_id: holon('hub'),
      journey_slug: 'join',
    });
    expect(relationship.step_title).toBe('Invited');
  });

  it('reports an equal relationship in the same direction on the same journey (409 already_present)', async () => {
    const first = await relate({ to_holon_id: holon('annex') });
    const id = first.relationship.relationship_id;
    expect(await refuseRelate({ to_holon_id: holon('annex'), journey_slug: null })).toMatchObject({
      code: 'conflict',
      reason: 'already_present',
      details: { relationship_id: id },
    });
    await relate({ to_holon_id: holon('annex'), journey_slug: 'hosting' });
    await relate({ from_holon_id: holon('annex'), to_holon_id: holon('hub') });
  });

  it('creates one relationship of concurrent equal requests', async () => {
    const request = { from_holon_id: holon('annex'), to_holon_id: holon('empty'), journey_slug: 'hosting' };
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => relate(request)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as AppError] : []));
    expect(new Set(refused.map(({ reason, details }) => `${reason}/${String(details['relationship_id'])}`)).size).toBe(
      1,
    );
  });

  it.each([
    ['a holon with itself', () => ({ to_holon_id: holon('hub') })],
    ['an unknown holon', () => ({ to_holon_id: 999_999 })],
    ['an unknown journey', () => ({ journey_slug: 'absent' })],
    ['a step without a journey', () => ({ step_slug: 'asked' })],
    ['an archived step', () => ({ journey_slug: 'join', step_slug: 'left' })],
    ['a malformed date', () => ({ follow_up_after: 'soon' })],
    ['a responsible person without an account', () => ({ responsible_person_id: person('ben') })],
    ['a blank note', () => ({ from_holon_id: holon('camp-old'), note: ' ' })],
  ])('rejects %s', async (_what, more) => {
    expect(await refuseRelate(more())).toMatchObject({ code: 'bad_request' });
  });

  it.each(
    callers.flatMap((caller) =>
      [
        ['empty', 'vault'],
        ['camp-old', 'cell'],
        ['annex', 'camp-old'],
      ].map(([from = '', to = '']) => [caller, from, to] as const),
    ),
  )(
    'for %s from %s to %s: needs the right to edit one side, and treats an invisible side as unknown',
    async (caller, from, to) => {
      const outcome = await fixture.attempt(async () => {
        const { relationship } = await relate(
          { from_holon_id: holon(from), to_holon_id: holon(to), journey_slug: 'steward' },
          caller,
        );
        await fixture.call(
          rpcs.deleteRelationship,
          { relationship_id: relationship.relationship_id },
          fixture.actor('root'),
        );
        return 'created';
      });
      const visible = sees(caller, from) && sees(caller, to);
      expect(outcome).toBe(
        !visible ? 'bad_request' : edits(caller, from) || edits(caller, to) ? 'created' : 'permission_denied',
      );
    },
  );
});

describe('deleteRelationship (W3)', () => {
  it.each(callers)('for %s: needs sight of both sides and the right to edit one', async (caller) => {
    const { relationship } = await relate({ from_holon_id: holon('camp-old'), to_holon_id: holon('vault') }, 'root');
    const id = relationship.relationship_id;
    const outcome = await fixture.attempt(async () => {
      await fixture.call(rpcs.deleteRelationship, { relationship_id: id }, fixture.actor(caller));
      return 'deleted';
    });
    expect(outcome).toBe(
      !sees(caller, 'vault')
        ? 'not_found'
        : edits(caller, 'vault') || edits(caller, 'camp-old')
          ? 'deleted'
          : 'permission_denied',
    );
    if (outcome !== 'deleted')
      await fixture.call(rpcs.deleteRelationship, { relationship_id: id }, fixture.actor('root'));
  });

  it('records the deletion, keeps the notes and compares If-Match', async () => {
    const made = relationshipRequest({ from_holon_id: holon('empty'), to_holon_id: holon('hub'), note: 'Kept.' });
    const created = await callTagged(rpcs.createRelationship, made, 'ed');
    const { relationship } = created.reply;
    const id = relationship.relationship_id;
    const request = { relationship_id: id, if_match: '"other"' };
    expect(await fixture.refusal(rpcs.deleteRelationship, request, fixture.actor('ed'))).toMatchObject({
      code: 'precondition_failed',
    });
    await fixture.call(rpcs.deleteRelationship, { relationship_id: id, if_match: created.etag }, fixture.actor('ed'));
    const notes = await fixture.call(rpcs.listNotesOfHolon, { holon_id: holon('empty') }, fixture.actor('ed'));
    expect(notes.items[0]?.body).toBe('Kept.');
    const actions = await fixture.env.sql<{ action: string }>(
      `select action from directory.history where object_kind = 'relationships' and object_id = $1 order by id`,
      [id],
    );
    expect(actions.map(({ action }) => action)).toEqual(['create', 'delete']);
  });

  it('records changed fields of an update (W10)', async () => {
    const id = fixture.id('relationships', 'hub-vault');
    await fixture.call(
      rpcs.updateRelationship,
      { relationship_id: id, note: 'Yes.', step_slug: 'agreed' },
      fixture.actor('ed'),
    );
    expect((await historyOf('relationships', id))[0]?.changes).toEqual({ step_slug: { old: 'asked', new: 'agreed' } });
  });
});
