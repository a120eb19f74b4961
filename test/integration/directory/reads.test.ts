import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jobAdminRpcs } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import { createJobs, type Jobs } from '#libs/infrastructure/jobs';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { getPeople, getHolons, getJourneys, getStepConfig, resolveAttendees, listNotesOfHolon, listNotesOfPerson } =
  directory.rpcs;
const workspace = {
  classes: [
    { slug: 'group', label: 'Group' },
    { slug: 'event', label: 'Event', conversation_event: true },
    { slug: 'closed', label: 'Closed', parent: 'group', private: true },
    { slug: 'closed-child', label: 'Closed child', parent: 'closed', is_active: false },
  ],
  journeys: [
    {
      slug: 'talk',
      name: 'Talk',
      is_conversation: true,
      texts: { welcome: 'Hello' },
      questions: [{ text: 'One?' }, { text: 'Two?' }],
      steps: [
        { slug: 'held', title: 'Held', config: { anything: parseJson('12345678901234567890') } },
        { slug: 'import', title: 'Import', pipeline_job: 'transcript_import' },
        { slug: 'odd', title: 'Odd', pipeline_job: 'transcript_import', config: { advance_on_success: 'yes' } },
        {
          slug: 'old',
          title: 'Old',
          pipeline_job: 'transcript_import',
          config: { advance_on_success: true, gone: 1 },
          is_archived: true,
        },
      ],
    },
  ],
  people: [
    { key: 'ada', name: 'Ada', contact: { email: ' Ada@Example.org' }, photo_url: 'https://example.org/a.png' },
    { key: 'twin', name: 'Ada twin', contact: { email: 'ada@example.org' } },
    { key: 'ben', name: 'Ben' },
  ],
  holons: [
    { slug: 'spring', name: 'Spring', class: 'event', parent: 'host', journeys: ['talk'] },
    { slug: 'host', name: 'Host', class: 'group', journeys: ['talk'] },
    { slug: 'inner', name: 'Inner', class: 'closed-child', parent: 'host' },
  ],
};

let fixture: DirectoryFixture;
let ids: Record<string, Record<string, number>>;
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  ({ ids } = await fixture.apply(workspace));
});
afterAll(() => fixture.stop());

describe('directory.people.get-many', () => {
  it('returns each known person once, in the requested order, and omits unknown ids', async () => {
    const [ada, ben] = [idOf('people', 'ada'), idOf('people', 'ben')];
    const { items } = await fixture.call(getPeople, { ids: [ben, 2_000_000_000, ada, ben] });
    expect(items).toEqual([
      { id: ben, name: 'Ben', photo: null, contact: {}, description: '', actor_kind: 'human' },
      {
        id: ada,
        name: 'Ada',
        photo: 'https://example.org/a.png',
        contact: { email: ' Ada@Example.org' },
        description: '',
        actor_kind: 'human',
      },
    ]);
    await expect(fixture.call(getPeople, { ids: [] })).resolves.toEqual({ items: [] });
  });

  it('rejects invalid person ids', async () => {
    expect(await fixture.refusal(getPeople, { ids: [0] })).toMatchObject({ status: expect.any(Number) });
    expect(await fixture.refusal(getPeople, { ids: [2_147_483_648] })).toMatchObject({ status: expect.any(Number) });
  });
});

describe('directory.holons.get-many', () => {
  it('returns holons by id and slug, with inherited privacy, and marks conversation events (D18d, D48)', async () => {
    const { items } = await fixture.call(getHolons, {
      ids: [idOf('holons', 'spring')],
      slugs: ['inner', 'spring', 'unknown'],
    });
    expect(items.toSorted((left, right) => left.slug.localeCompare(right.slug))).toEqual([
      expect.objectContaining({
        slug: 'inner',
        type: 'closed-child',
        private: true,
        conversation_event: false,
        parent_id: idOf('holons', 'host'),
      }),
      expect.objectContaining({
        slug: 'spring',
        type: 'event',
        private: false,
        conversation_event: true,
        parent_id: idOf('holons', 'host'),
      }),
    ]);
    await expect(fixture.call(getHolons, {})).resolves.toEqual({ items: [] });
  });
});

describe('directory.journeys.get-many', () => {
  it('returns a journey with questions numbered from 0, archived steps, and only conversation events as owners (D4, D18d)', async () => {
    const { items } = await fixture.call(getJourneys, { slugs: ['talk', 'unknown'] });
    expect(items).toEqual([
      {
        id: idOf('journeys', 'talk'),
        slug: 'talk',
        name: 'Talk',
        description: '',
        texts: { welcome: 'Hello' },
        is_conversation: true,
        questions: [
          { id: expect.any(Number), text: 'One?', order: 0 },
          { id: expect.any(Number), text: 'Two?', order: 1 },
        ],
        archived_questions: [],
        steps: [
          {
            id: idOf('steps', 'talk/held'),
            slug: 'held',
            title: 'Held',
            order: 0,
            is_archived: false,
            pipeline_job: null,
          },
          {
            id: idOf('steps', 'talk/import'),
            slug: 'import',
            title: 'Import',
            order: 1,
            is_archived: false,
            pipeline_job: 'transcript_import',
          },
          {
            id: idOf('steps', 'talk/odd'),
            slug: 'odd',
            title: 'Odd',
            order: 2,
            is_archived: false,
            pipeline_job: 'transcript_import',
          },
          {
            id: idOf('steps', 'talk/old'),
            slug: 'old',
            title: 'Old',
            order: 3,
            is_archived: true,
            pipeline_job: 'transcript_import',
          },
        ],
        owner_event_ids: [idOf('holons', 'spring')],
      },
    ]);
  });
});

describe('directory.steps.get-config (rules/steps#pipeline-jobs)', () => {
  it('returns the configuration of a step with defaults and without undeclared keys', async () => {
    await expect(fixture.call(getStepConfig, { step_id: idOf('steps', 'talk/import') })).resolves.toEqual({
      pipeline_job: 'transcript_import',
      config: { advance_on_success: false },
    });
    await expect(fixture.call(getStepConfig, { step_id: idOf('steps', 'talk/old') })).resolves.toEqual({
      pipeline_job: 'transcript_import',
      config: { advance_on_success: true },
    });
  });

  it('returns the stored configuration of a step without a job', async () => {
    const reply = await fixture.call(getStepConfig, { step_id: idOf('steps', 'talk/held') });
    expect(JSON.stringify(reply)).toBe('{"pipeline_job":null,"config":{"anything":12345678901234567890}}');
  });

  it('reports the problems of an invalid step configuration, and 404 for an unknown step', async () => {
    const error = await fixture.refusal(getStepConfig, { step_id: idOf('steps', 'talk/odd') });
    expect(error).toMatchObject({
      reason: 'invalid_step_config',
      details: { fields: { advance_on_success: expect.any(String) } },
    });
    expect(await fixture.refusal(getStepConfig, { step_id: 2_000_000_000 })).toMatchObject({ code: 'not_found' });
  });
});

describe('directory.people.resolve-attendees (D19, D19a)', () => {
  const countPeople = async (): Promise<number> =>
    Number((await fixture.env.sql('select count(*)::integer as n from directory.people'))[0]?.['n']);

  it('finds attendees by email, ignoring case and whitespace, and prefers the oldest of several matching people', async () => {
    const reply = await fixture.call(resolveAttendees, {
      attendees: [
        { name: 'Somebody', email: 'ADA@example.org ' },
        { name: 'New', email: 'new@example.org' },
        { name: 'No address', email: null },
      ],
      create: false,
      key: 'b1',
    });
    expect(reply).toEqual({ person_ids: [idOf('people', 'ada'), null, null] });
  });

  it('creates one person per unknown email, and one per key for attendees without an email', async () => {
    const before = await countPeople();
    const request = {
      attendees: [
        { name: 'New', email: 'New@example.org' },
        { name: 'No address', email: null },
        { name: 'New again', email: 'new@EXAMPLE.org' },
      ],
      create: true,
      key: 'b2',
    };
    const replies = await Promise.all(Array.from({ length: 20 }, () => fixture.call(resolveAttendees, request)));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    const [first, second, third] = replies[0]?.person_ids ?? [];
    expect(first).toBe(third);
    expect(second).not.toBe(first);
    expect(await countPeople()).toBe(before + 2);
    const other = await fixture.call(resolveAttendees, { ...request, key: 'b3' });
    expect(other.person_ids[0]).toBe(first);
    expect(other.person_ids[1]).not.toBe(second);
    const { items } = await fixture.call(getPeople, { ids: [first ?? 0, second ?? 0] });
    expect(items).toMatchObject([
      { name: 'New', contact: { email: 'New@example.org' } },
      { name: 'No address', contact: {} },
    ]);
  });

  it('uses the address as the name of an attendee without a name', async () => {
    const { person_ids: personIds } = await fixture.call(resolveAttendees, {
      attendees: [{ name: ' ', email: 'nameless@example.org' }],
      create: true,
      key: 'b4',
    });
    const { items } = await fixture.call(getPeople, { ids: [personIds[0] ?? 0] });
    expect(items).toMatchObject([{ name: 'nameless@example.org' }]);
  });
});

describe('job directory.note-add and directory.notes.list', () => {
  let db: Database;
  let jobs: Jobs<typeof directory>;
  beforeAll(async () => {
    const { env, bus } = fixture;
    db = await createDatabase({
      url: env.settings['DATABASE_URL'] ?? '',
      schema: 'directory',
      poolSize: 2,
      logger: env.logger,
      applicationName: 'test',
    });
    jobs = createJobs({ contract: directory, db, bus, logger: env.logger });
  });
  afterAll(() => db.close());

  const add = (payload: Parameters<typeof jobs.enqueue<typeof directory.jobs.noteAdd>>[2]) =>
    jobs.transaction((tx) => jobs.enqueue(tx, directory.jobs.noteAdd, payload));
  const finished = (id: string) =>
    waitFor(async () => (await fixture.call(jobAdminRpcs('directory').showJob, { id })).state === 'succeeded');

  it('adds one note per key to the feed of each given owner, and lists notes newest first', async () => {
    const [ada, ben, spring] = [idOf('people', 'ada'), idOf('people', 'ben'), idOf('holons', 'spring')];
    const note = {
      key: 'n1',
      person_ids: [ada, 2_000_000_000],
      holon_ids: [spring],
      body: '  verbatim  ',
      note_type: 'booking',
      author_person_id: null,
    };
    const first = await add({ ...note, created_at: '2026-05-01T10:00:00.123456Z' });
    await finished(first);
    await finished(await add({ ...note, body: 'again' }));
    await finished(
      await add({ key: 'n2', person_ids: [ada], body: 'by Ben', note_type: 'note', author_person_id: ben }),
    );
    const { items } = await fixture.call(listNotesOfPerson, { person_id: ada });
    expect(items).toEqual([
      expect.objectContaining({
        body: 'by Ben',
        note_type: 'note',
        author_person: expect.objectContaining({ id: ben, name: 'Ben' }),
      }),
      {
        id: expect.any(Number),
        body: '  verbatim  ',
        note_type: 'booking',
        created_at: '2026-05-01T10:00:00.123456Z',
        author_person: null,
      },
    ]);
    const [newest] = items;
    await expect(fixture.call(listNotesOfPerson, { person_id: ada, limit: 1 })).resolves.toMatchObject({
      items: [newest],
    });
    const holon = await fixture.call(listNotesOfHolon, { holon_id: spring, limit: 5 });
    expect(holon.items.map(({ body }) => body)).toEqual(['  verbatim  ']);
  });
});
