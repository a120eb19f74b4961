/** Note feeds with a real database, for every kind of caller. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJobs } from '#libs/infrastructure/jobs';
import { createDatabase } from '#libs/infrastructure/orm';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { callers, startWorkflowFixture, rpcs, sees, type Caller, type WorkflowFixture } from './workflow-fixture.ts';

const memberships = [
  { key: 'ada-hub', person: 'ada', holon: 'hub', journey: 'join' },
  { key: 'ada-vault', person: 'ada', holon: 'vault', journey: 'join' },
  { key: 'ada-cell', person: 'ada', holon: 'cell', journey: 'join' },
  { key: 'ben-hub', person: 'ben', holon: 'hub', journey: 'join' },
] as const;
const relationships = [
  { key: 'hub-camp', from: 'hub', to: 'camp-one', journey: 'hosting' },
  { key: 'hub-vault', from: 'hub', to: 'vault', journey: 'hosting' },
] as const;
/** The notes, oldest first, with the people and holons of each note. */
const notes = [
  { body: 'of Ada', people: ['ada'], holons: [] },
  { body: 'of the hub', people: [], holons: ['hub'] },
  { body: 'of Ada in the vault', people: ['ada'], holons: ['vault'], membership: 'ada-vault' },
  { body: 'of Ada in the cell', people: ['ada'], holons: ['cell'], membership: 'ada-cell' },
  { body: 'of Ada in the hub', people: ['ada'], holons: ['hub'], membership: 'ada-hub' },
  { body: 'of Ben in the hub', people: ['ben'], holons: ['hub'], membership: 'ben-hub' },
  { body: 'of hub and camp', people: [], holons: ['hub', 'camp-one'], relationship: 'hub-camp' },
  { body: 'of hub and vault', people: [], holons: ['hub', 'vault'], relationship: 'hub-vault' },
  { body: 'of Ada and the vault, from elsewhere', people: ['ada'], holons: ['vault'] },
] as const;

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await startWorkflowFixture(import.meta.url, { memberships, relationships });
  // The notes are written newest first, so that the ids are not in the order of time.
  for (const note of notes.toReversed()) await write(note);
  const { sql } = fixture.env;
  const bodies = notes.map(({ body }) => body);
  await sql(
    `update directory.notes set created_at = '2026-01-01Z'::timestamptz + make_interval(mins => array_position($1::text[], body))`,
    [bodies],
  );
  for (const feed of ['person_notes', 'holon_notes'])
    await sql(`update directory.${feed} f set created_at = n.created_at from directory.notes n where n.id = f.note_id`);
});
afterAll(() => fixture.stop());

/** Writes a note through the API where the API supports its subjects, otherwise as another service writes it. */
async function write(note: (typeof notes)[number]): Promise<void> {
  const actor = fixture.actor('ed');
  if ('membership' in note) {
    await fixture.call(
      rpcs.updateMembership,
      { membership_id: fixture.id('memberships', note.membership), note: note.body },
      actor,
    );
    return;
  }
  if ('relationship' in note) {
    await fixture.call(
      rpcs.updateRelationship,
      { relationship_id: fixture.id('relationships', note.relationship), note: note.body },
      actor,
    );
    return;
  }
  const { env, bus } = fixture;
  const url = env.settings['DATABASE_URL'] ?? '';
  const db = await createDatabase({
    url,
    schema: 'directory',
    poolSize: 1,
    logger: env.logger,
    applicationName: 'test',
  });
  const jobs = createJobs({ contract: directory, db, bus, logger: env.logger });
  await jobs.transaction((tx) =>
    jobs.enqueue(tx, directory.jobs.noteAdd, {
      key: note.body,
      body: note.body,
      note_type: 'recorded',
      author_person_id: null,
      person_ids: note.people.map((key) => fixture.id('people', key)),
      holon_ids: note.holons.map((key) => fixture.id('holons', key)),
    }),
  );
  await waitFor(
    async () => (await env.sql('select 1 from directory.notes where body = $1', [note.body])).length === 1,
    {},
  );
  await db.close();
}

const ofPerson = (person: string, caller: Caller, query: object = {}) =>
  fixture.call(rpcs.listNotesOfPerson, { person_id: fixture.id('people', person), ...query }, fixture.actor(caller));
const ofHolon = (holon: string, caller: Caller, query: object = {}) =>
  fixture.call(rpcs.listNotesOfHolon, { holon_id: fixture.id('holons', holon), ...query }, fixture.actor(caller));
const seenBy = (caller: Caller, feed: 'people' | 'holons', key: string): string[] =>
  notes
    .filter(
      (note) => (note[feed] as readonly string[]).includes(key) && note.holons.every((holon) => sees(caller, holon)),
    )
    .map(({ body }) => body as string)
    .toReversed();

describe('notes of a person (rules/memberships#notes; D47a, D48)', () => {
  it('lists notes on the person and their memberships, newest first', async () => {
    const reply = await ofPerson('ada', 'root');
    expect(reply.items.map(({ body }) => body)).toEqual(seenBy('root', 'people', 'ada'));
    expect(reply).toMatchObject({ count: 5, limit: 50 });
    expect(Object.keys(reply)).toEqual(['count', 'limit', 'items']);
    expect(reply.items.at(-1)).toEqual({
      id: expect.any(Number),
      body: 'of Ada',
      note_type: 'recorded',
      created_at: expect.stringMatching(/Z$/),
      author_person: null,
    });
    expect(reply.items[1]).toMatchObject({ note_type: 'note', author_person: { name: 'Ed Editor' } });
  });

  it.each(callers)('omits notes on memberships in holons that %s cannot see, in items and count', async (caller) => {
    const expected = seenBy(caller, 'people', 'ada');
    const reply = await ofPerson('ada', caller, { limit: 1 });
    expect([reply.count, reply.items.map(({ body }) => body)]).toEqual([expected.length, expected.slice(0, 1)]);
    expect((await ofPerson('ada', caller)).items.map(({ body }) => body)).toEqual(expected);
  });

  it('returns 404 for the notes of an unknown person, and an empty list for a person without notes', async () => {
    expect(
      await fixture.refusal(rpcs.listNotesOfPerson, { person_id: 2_000_000_000 }, fixture.actor('root')),
    ).toMatchObject({
      code: 'not_found',
    });
    expect(await ofPerson('cleo', 'sam')).toEqual({ count: 0, limit: 50, items: [] });
  });
});

describe('notes of a holon (rules/memberships#notes; D48)', () => {
  it('lists notes on the holon, its memberships and its relationships, newest first', async () => {
    const reply = await ofHolon('hub', 'root');
    expect(reply.items.map(({ body }) => body)).toEqual([
      'of hub and vault',
      'of hub and camp',
      'of Ben in the hub',
      'of Ada in the hub',
      'of the hub',
    ]);
    expect(reply).toMatchObject({ count: 5, limit: 50 });
  });

  it.each(callers.flatMap((caller) => ['hub', 'camp-one', 'vault', 'cell'].map((holon) => [caller, holon] as const)))(
    'lists to %s the visible notes of %s, or returns 404 if the holon is invisible',
    async (caller, holon) => {
      const answer = await fixture.attempt(() => ofHolon(holon, caller));
      if (!sees(caller, holon)) return expect(answer).toBe('not_found');
      const { count, items } = answer as Awaited<ReturnType<typeof ofHolon>>;
      const expected = seenBy(caller, 'holons', holon);
      expect([count, items.map(({ body }) => body)]).toEqual([expected.length, expected]);
    },
  );

  it('returns notes up to the limit, with the count of all notes', async () => {
    const reply = await ofHolon('hub', 'sam', { limit: 2 });
    expect([reply.count, reply.limit, reply.items.length]).toEqual([4, 2, 2]);
  });
});
