/** Events that the directory publishes to the feed, and their visibility (rules/events; V1, V4, V9, V10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService, waitFor } from '#libs/product/testing';
import { type Caller, startWorkflowFixture, type WorkflowFixture, rpcs } from '../directory/workflow-fixture.ts';
import { createFeedReader, type FeedReader } from './reader.ts';
import { erase, serveErasures } from '../directory/erase.ts';

let fixture: WorkflowFixture;
let feed: FeedReader;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, {
    memberships: [
      { key: 'ada-hub', person: 'ada', holon: 'hub', journey: 'join', step: 'invited' },
      { key: 'ada-vault', person: 'ada', holon: 'vault', journey: 'join', step: 'invited' },
    ],
    relationships: [
      { key: 'hub-camp', from: 'hub', to: 'camp-one', journey: 'hosting' },
      { key: 'hub-vault', from: 'hub', to: 'vault', journey: 'hosting' },
    ],
  });
  await startService('conversations', fixture.env);
  await startService('events', fixture.env);
  feed = createFeedReader(fixture.bus);
  // Waits until the events of the workspace are in the feed.
  await waitFor(async () => (await feed.read({ types: 'relationship.created' })).items.length === 2);
});
afterAll(() => fixture.stop());

const as = (caller: Caller) => fixture.actor(caller);
const membership = (key: string, person: string, holon: string, journey = 'join') => ({
  subject: fixture.id('memberships', key),
  data: {
    person_id: fixture.id('people', person),
    holon_id: fixture.id('holons', holon),
    journey_id: fixture.id('journeys', journey),
    journey,
  },
});
/** Returns the current cursor, which is after all events published so far. */
async function now(): Promise<string> {
  const id = await close();
  const told = () => feed.read({ subject_type: 'person', subject_id: id });
  return waitFor(async () => (await told()).items.at(-1)?.cursor);
}
/** Publishes an event that marks the end of the test's events, so that missing ones are detected. */
async function close(): Promise<number> {
  const { person } = (await fixture.call(rpcs.createPerson, { name: 'The last one' }, as('root'))) as {
    person: { id: number };
  };
  return person.id;
}
/** Returns the types of all events after the cursor, up to the closing event. */
async function typesSince(after: string, count: number): Promise<string[]> {
  await close();
  const types = (await feed.told(count + 1, { after })).map(([type]) => type);
  expect(types.at(-1)).toBe('person.created');
  return types.slice(0, -1);
}
/** Creates a person with memberships for one test and returns the id. */
async function fresh(key: string, more: object = {}): Promise<number> {
  await fixture.add({ people: [{ key, name: `Person ${key}` }], ...more });
  return fixture.id('people', key);
}

describe('events of the directory (rules/events#types; V1, V9)', () => {
  it('emits events for a new person with membership and note', async () => {
    const after = await now();
    const holonId = fixture.id('holons', 'hub');
    const wish = { holon_id: holonId, journey_slug: 'join', step_slug: 'invited' };
    const made = (await fixture.call(
      rpcs.createPerson,
      { name: 'Nora', note: 'Met her.', membership: wish },
      as('ed'),
    )) as {
      person: { id: number };
      membership: { membership_id: number };
    };
    const { id } = made.person;
    expect(await feed.told(3, { after })).toEqual([
      ['person.created', {}],
      [
        'membership.created',
        { person_id: id, holon_id: holonId, journey_id: fixture.id('journeys', 'join'), journey: 'join' },
      ],
      [
        'note.created',
        {
          note_type: 'note',
          person_id: id,
          person_ids: [id],
          holon_id: holonId,
          holon_ids: [holonId],
          membership_id: made.membership.membership_id,
          relationship_id: null,
        },
      ],
    ]);
  });

  it('emits the change of a membership before its note, and only the note if nothing else changed', async () => {
    const { subject: id, data } = membership('ada-hub', 'ada', 'hub');
    const update = (request: object) =>
      fixture.call(rpcs.updateMembership, { membership_id: id, note: 'A word.', ...request }, as('ed'));
    const after = await now();
    await update({});
    await update({ step_slug: 'invited' });
    await update({ step_slug: 'joined' });
    await update({ responsible_person_id: fixture.id('people', 'sam') });
    await update({ responsible_person_id: fixture.id('people', 'sam') });
    expect(await typesSince(after, 7)).toEqual([
      'note.created',
      'note.created',
      'membership.updated',
      'note.created',
      'membership.updated',
      'note.created',
      'note.created',
    ]);
    expect(await feed.told(2, { after, subject_type: 'membership', subject_id: id })).toEqual([
      ['membership.updated', data],
      ['membership.updated', data],
    ]);
  });

  it('emits the change of a relationship with both holons', async () => {
    const after = await now();
    const id = fixture.id('relationships', 'hub-camp');
    const [from, to] = [fixture.id('holons', 'hub'), fixture.id('holons', 'camp-one')];
    await fixture.call(
      rpcs.updateRelationship,
      { relationship_id: id, note: 'Agreed.', step_slug: 'agreed' },
      as('ed'),
    );
    expect(await feed.told(2, { after })).toEqual([
      [
        'relationship.updated',
        { from_holon_id: from, to_holon_id: to, journey_id: fixture.id('journeys', 'hosting'), journey: 'hosting' },
      ],
      [
        'note.created',
        expect.objectContaining({ relationship_id: id, holon_id: null, holon_ids: [from, to], person_id: null }),
      ],
    ]);
  });

  it('emits the creation and the deletion of a membership and of a relationship, and hides earlier events (W21)', async () => {
    const personId = await fresh('leaver');
    const after = await now();
    const hub = fixture.id('holons', 'hub');
    const request = { person_id: personId, holon_id: hub, journey_slug: 'join', note: 'Hello.' };
    const { membership } = await fixture.call(rpcs.createMembership, request, as('above'));
    await fixture.call(rpcs.deleteMembership, { membership_id: membership.membership_id }, as('above'));
    const ends = { from_holon_id: hub, to_holon_id: fixture.id('holons', 'empty') };
    const { relationship } = await fixture.call(rpcs.createRelationship, ends, as('above'));
    await fixture.call(rpcs.deleteRelationship, { relationship_id: relationship.relationship_id }, as('above'));
    const joined = { person_id: personId, holon_id: hub, journey_id: fixture.id('journeys', 'join'), journey: 'join' };
    const related = { ...ends, journey_id: null, journey: null };
    expect(await feed.told(5, { after })).toEqual([
      ['membership.created', joined],
      ['note.created', expect.objectContaining({ membership_id: membership.membership_id, person_id: personId })],
      ['membership.deleted', joined],
      ['relationship.created', related],
      ['relationship.deleted', related],
    ]);
    const seen = (await feed.read({ after }, as('sam'))).items.map(({ type }) => type);
    expect(seen).toEqual(['note.created', 'membership.deleted', 'relationship.deleted']);
  });

  it('emits events only for memberships that a bulk request created', async () => {
    await fresh('bulk-1');
    await fresh('bulk-2');
    const after = await now();
    const bulk = (...people: string[]) =>
      fixture.call(
        rpcs.bulkAddMemberships,
        {
          holon_id: fixture.id('holons', 'hub'),
          journey_slug: 'join',
          memberships: people.map((key) => ({ person_id: fixture.id('people', key) })),
        },
        as('ed'),
      );
    await bulk('bulk-1', 'ada');
    await bulk('bulk-1', 'bulk-2');
    expect(await typesSince(after, 2)).toEqual(['membership.created', 'membership.created']);
  });

  it('emits an event only for holons that changed', async () => {
    const id = fixture.id('holons', 'camp-one');
    const after = await now();
    const update = (request: object) => fixture.call(rpcs.updateHolon, { holon_id: id, ...request }, as('ed'));
    await update({ name: 'Camp one' });
    await update({ description: '<p>By the lake</p>' });
    await update({ description: '<p>By the lake</p>' });
    await update({ journey_ids: [fixture.id('journeys', 'join')] });
    await update({ journey_ids: [fixture.id('journeys', 'join')] });
    expect(await typesSince(after, 2)).toEqual(['holon.updated', 'holon.updated']);
  });

  it('emits events for the changes of an applied workspace file', async () => {
    const document = {
      people: [{ key: 'ws', name: 'Workspace' }],
      holons: [{ slug: 'ws', name: 'Workspace', class: 'group' }],
      memberships: [{ key: 'ws', person: 'ws', holon: 'ws', journey: 'join', step: 'invited' }],
      relationships: [{ key: 'ws', from: 'ws', to: 'hub', journey: 'hosting' }],
    };
    const after = await now();
    await fixture.add(document);
    await fixture.add(document);
    await fixture.add({
      ...document,
      people: [{ key: 'ws', name: 'Workspace', description: 'changed' }],
      memberships: [{ key: 'ws', person: 'ws', holon: 'ws', journey: 'join', step: 'joined' }],
    });
    await fixture.call(rpcs.applyWorkspace, { document: { people: [{ key: 'dry', name: 'Dry' }] }, dry_run: true });
    expect(await typesSince(after, 6)).toEqual([
      'person.created',
      'holon.created',
      'membership.created',
      'relationship.created',
      'person.updated',
      'membership.updated',
    ]);
  });

  it('emits a merge and the changes of moved records, and hides earlier events of the merged person', async () => {
    const stays = await fresh('stays');
    const gone = await fresh('gone', {
      memberships: [
        { key: 'gone-hub', person: 'gone', holon: 'hub', journey: 'join', step: 'invited' },
        { key: 'gone-camp', person: 'gone', holon: 'camp-one', journey: 'join', step: 'invited' },
        { key: 'stays-camp', person: 'stays', holon: 'camp-one', journey: 'join', step: 'invited' },
      ],
    });
    const after = await now();
    await fixture.call(rpcs.mergePerson, { person_id: gone, into: stays }, as('root'));
    const [moved, joined] = [membership('gone-hub', 'stays', 'hub'), membership('gone-camp', 'stays', 'camp-one')];
    expect(await feed.told(4, { after })).toEqual([
      ['membership.deleted', { ...joined.data, person_id: stays }],
      ['person.merged', { into: stays }],
      ['membership.updated', moved.data],
      ['membership.updated', joined.data],
    ]);
    const of = async (caller: Caller) =>
      (await feed.read({ subject_type: 'person', subject_id: gone }, as(caller))).items.map(({ type }) => type);
    expect(await of('sam')).toEqual(['person.merged']);
    expect(await of('root')).toEqual(['person.created', 'person.merged']);
  });

  it('emits an erasure and the removal of the person as responsible', async () => {
    await fixture.add({
      people: [{ key: 'erased', name: 'Person erased' }],
      accounts: [{ email: 'erased@example.org', person: 'erased' }],
      memberships: [
        { key: 'theirs', person: 'ben', holon: 'empty', journey: 'join', responsible: 'erased' },
        { key: 'own', person: 'erased', holon: 'empty', journey: 'join' },
      ],
    });
    const id = fixture.id('people', 'erased');
    const after = await now();
    await serveErasures(fixture, { running: ['conversations', 'events'] });
    await erase(fixture, id);
    expect(await typesSince(after, 3)).toEqual(['membership.deleted', 'person.erased', 'membership.updated']);
    const of = async (caller: Caller) =>
      (await feed.read({ subject_type: 'person', subject_id: id }, as(caller))).items.map(({ type }) => type);
    expect(await of('sam')).toEqual(['person.erased']);
    expect(await of('root')).toEqual(['person.created', 'person.erased']);
  });

  it('emits no events for rejected and repeated requests (V9)', async () => {
    const after = await now();
    const actor = as('ed');
    await fixture.attempt(() =>
      fixture.call(rpcs.createPerson, { name: 'X', contact: { email: 'ada@example.org' } }, actor),
    );
    await fixture.attempt(() =>
      fixture.call(rpcs.updateHolon, { holon_id: fixture.id('holons', 'hub'), name: ' ' }, actor),
    );
    expect(await typesSince(after, 0)).toEqual([]);
  });
});

describe('visibility of directory events (V4, V10, D48)', () => {
  it('a directory event is visible only to callers with current access to all of its holons', async () => {
    const after = await now();
    const update = { note: 'Quietly.', follow_up_after: '2030-02-01' };
    await fixture.call(
      rpcs.updateMembership,
      { membership_id: fixture.id('memberships', 'ada-vault'), ...update },
      as('vera'),
    );
    await fixture.call(
      rpcs.updateRelationship,
      { relationship_id: fixture.id('relationships', 'hub-vault'), ...update },
      as('vera'),
    );
    await fixture.call(
      rpcs.updateHolon,
      { holon_id: fixture.id('holons', 'vault'), description: '<p>Deep</p>' },
      as('vera'),
    );
    await close();
    await feed.told(6, { after });
    const seen = async (caller: Caller) =>
      (await feed.read({ after, limit: 500 }, as(caller))).items.map(({ type }) => type);
    const secret = ['membership.updated', 'note.created', 'relationship.updated', 'note.created', 'holon.updated'];
    for (const caller of ['vera', 'above', 'ed', 'root'] as const)
      expect(await seen(caller)).toEqual([...secret, 'person.created']);
    for (const caller of ['sam', 'below', 'beside', 'ended'] as const)
      expect(await seen(caller)).toEqual(['person.created']);
    // Publishes no event, but changes visibility: the class of the holons above is no longer private.
    await fixture.add({ classes: [{ slug: 'closed', label: 'Closed', parent: 'group', private: false }] });
    expect(await seen('sam')).toEqual([...secret, 'person.created']);
    await fixture.add({ classes: [{ slug: 'closed', label: 'Closed', parent: 'group', private: true }] });
    expect(await seen('sam')).toEqual(['person.created']);
  });

  it('events of deleted memberships, relationships and holons are visible only to callers that could see the holon (W21)', async () => {
    await fixture.add({ holons: [{ slug: 'crypt', name: 'Crypt', class: 'closed', parent: 'vault' }] });
    const crypt = fixture.id('holons', 'crypt');
    const after = await now();
    const request = { person_id: fixture.id('people', 'ben'), holon_id: crypt, journey_slug: 'join', note: 'Secret.' };
    const { membership } = await fixture.call(rpcs.createMembership, request, as('vera'));
    await fixture.call(rpcs.deleteMembership, { membership_id: membership.membership_id }, as('vera'));
    const ends = { from_holon_id: fixture.id('holons', 'hub'), to_holon_id: crypt };
    const { relationship } = await fixture.call(rpcs.createRelationship, ends, as('vera'));
    await fixture.call(rpcs.deleteRelationship, { relationship_id: relationship.relationship_id }, as('vera'));
    await fixture.call(rpcs.deleteHolon, { holon_id: crypt }, as('ed'));
    await close();
    await feed.told(7, { after });
    const notes = await fixture.call(rpcs.listNotesOfPerson, { person_id: request.person_id }, as('sam'));
    expect(notes.items).toEqual([]);
    const seen = async (caller: Caller) =>
      (await feed.read({ after, limit: 500 }, as(caller))).items.map(({ type }) => type);
    const deleted = ['membership.deleted', 'relationship.deleted', 'holon.deleted'];
    for (const caller of ['vera', 'above', 'ed'] as const)
      expect(await seen(caller)).toEqual([...deleted, 'person.created']);
    for (const caller of ['sam', 'below', 'beside', 'ended'] as const)
      expect(await seen(caller)).toEqual(['person.created']);
  });

  it('finds readable directory events among many hidden ones, and returns the same cursor if there are none (V10)', async () => {
    const sam = as('sam');
    const begin = await now();
    await close();
    await feed.told(1, { after: begin });
    const mine = await feed.read({ after: begin }, sam);
    await fill(30_000);
    const first = await feed.read({ after: begin, limit: 500 }, sam);
    expect(first).toEqual(mine);
    expect(first.items.map(({ type }) => type)).toEqual(['person.created']);
    const again = await feed.read({ after: first.next, limit: 500 }, sam);
    expect(again).toEqual({ items: [], next: first.next, has_more: false });
    await close();
    await feed.told(1, { after: first.next, types: 'person.*' });
    for (const types of [undefined, 'person.*', 'person.created,membership.updated'])
      expect(
        (await feed.read({ after: first.next, limit: 500, ...(types !== undefined && { types }) }, sam)).items,
      ).toHaveLength(1);
  });
});

/** Inserts membership events of a private holon, as if they had been published. */
async function fill(count: number): Promise<void> {
  const vault = fixture.id('holons', 'vault');
  await fixture.env.sql(
    `with head as (select last_position from events.feed_head), added as (
      insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
      select last_position + n, now(), 'filler', n, gen_random_uuid(), 'membership.updated', 'membership', 1000000 + n % 5000, '{}', false
      from head, generate_series(1, $1::integer) n
    )
    insert into events.subjects (type, id, known, holons, people, gone, last_position)
    select 'membership', 1000000 + n, true, array[$2::integer], '{}', false, last_position + $1 from head, generate_series(0, 4999) n`,
    [count, vault],
  );
  await fixture.env.sql('update events.feed_head set last_position = last_position + $1', [count]);
}
