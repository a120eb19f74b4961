import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conversations } from '#services/conversations';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const find = (person: number, journey: string, time: string) =>
  fixture.call(conversations.rpcs.findActive, { person_id: person, journey, time });
const refusal = (person: number, journey: string) =>
  fixture.refusal(conversations.rpcs.findActive, { person_id: person, journey, time: '2030-01-01T00:00:00Z' });
const insert = async (person: number, start: string | null, finish: string | null): Promise<number> => {
  const [row] = await fixture.env.sql<{ id: number }>(
    `insert into conversations.conversations (journey_id, start_at, finish_at, participant_ids) values ($1, $2, $3, array[$4::integer]) returning id`,
    [fixture.ids['journeys']?.['open-circle'], start, finish, person],
  );
  return row?.id ?? 0;
};

describe('conversations.find-active creates an unscheduled conversation (rules/conversations#find-or-create; D1)', () => {
  it('creates a conversation at the requested time to the microsecond, without finish, at the first active step, owned by the only event', async () => {
    const [created, ...others] = await find(fixture.personId('ada'), 'open-circle', '2030-03-01T10:00:00.123456+02:00');
    expect(others).toEqual([]);
    expect(created).toEqual({
      id: expect.any(Number),
      participants: [
        {
          id: fixture.personId('ada'),
          name: 'Ada',
          photo: 'https://example.org/ada.png',
          contact: { email: 'ada@example.org' },
        },
      ],
      connected: [],
      infos: {},
      config: {},
      start: '2030-03-01T08:00:00.123456Z',
      finish: null,
      journey_slug: 'open-circle',
      journey_name: 'Open circle',
      journey_description: 'Talk in the round',
      step_slug: 'held',
      step_title: 'Held',
      texts: { welcome: 'Hello', enter: '', post: '', goodbyeURL: '' },
      questions: [
        { id: expect.any(Number), text: 'What matters now?', order: 0 },
        { id: expect.any(Number), text: 'What next?', order: 1 },
      ],
      updated_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{6})?Z$/),
      question_state: { active_question_id: null, changes: [] },
    });
    const [row] = await fixture.env.sql('select event_id from conversations.conversations where id = $1', [
      created?.id,
    ]);
    expect(row).toEqual({ event_id: fixture.ids['holons']?.['spring'] });
  });

  it('returns the created conversation for the same look-up', async () => {
    const [first] = await find(fixture.personId('ben'), 'open-circle', '2030-04-01T10:00:00Z');
    const again = await find(fixture.personId('ben'), 'open-circle', '2030-04-01T10:00:00Z');
    expect(again.map((item) => item.id)).toEqual([first?.id]);
  });

  it('creates a conversation with an empty step when the journey has no steps', async () => {
    const [created] = await find(fixture.personId('ada'), 'plain', '2030-03-01T10:00:00Z');
    expect(created).toMatchObject({ step_slug: '', step_title: '', questions: [], texts: {} });
  });

  it('starts the pipeline job of the first step (rules/steps#pipeline-jobs)', async () => {
    const [created] = await find(fixture.personId('ada'), 'straight-in', '2030-03-01T10:00:00Z');
    const [entry] = await fixture.env.sql(
      'select pipeline_job, job_id from conversations.pipeline_entries where conversation_id = $1',
      [created?.id],
    );
    expect(entry).toEqual({ pipeline_job: 'transcript_import', job_id: expect.any(String) });
  });

  it('reads a time without an offset as UTC', async () => {
    const [created] = await find(fixture.personId('cleo'), 'plain', '2030-05-01T10:00:00');
    expect(created?.start).toBe('2030-05-01T10:00:00Z');
  });

  it('creates one conversation for 50 concurrent identical look-ups', async () => {
    const lookups = Array.from({ length: 50 }, () => find(fixture.personId('ben'), 'plain', '2030-06-01T10:00:00Z'));
    const found = (await Promise.all(lookups)).map((items) => items.map((item) => item.id));
    expect(new Set(found.flat()).size).toBe(1);
    expect(found.every((items) => items.length === 1)).toBe(true);
  });
});

describe('conversations.find-active match rules 1 to 4 (rules/conversations#find-or-create; D2)', () => {
  let person: number;
  beforeAll(async () => {
    const { ids } = await fixture.apply({ people: [{ key: 'dora', name: 'Dora', contact: {}, actor_kind: 'human' }] });
    person = ids['people']?.['dora'] ?? 0;
  });

  it('matches a start exactly five minutes after the time and not a microsecond later', async () => {
    const id = await insert(person, '2031-01-01T10:05:00Z', '2031-01-01T11:00:00Z');
    expect((await find(person, 'open-circle', '2031-01-01T10:00:00Z')).map((item) => item.id)).toEqual([id]);
    const [other] = await find(person, 'open-circle', '2031-01-01T09:59:59.999999Z');
    expect(other?.id).not.toBe(id);
    await fixture.env.sql('delete from conversations.conversations where participant_ids @> array[$1::integer]', [
      person,
    ]);
  });

  it('matches a finish equal to the time and not a microsecond earlier', async () => {
    const id = await insert(person, '2031-01-01T10:00:00Z', '2031-01-01T11:00:00Z');
    expect((await find(person, 'open-circle', '2031-01-01T11:00:00Z')).map((item) => item.id)).toEqual([id]);
    const [other] = await find(person, 'open-circle', '2031-01-01T11:00:00.000001Z');
    expect(other?.id).not.toBe(id);
    await fixture.env.sql('delete from conversations.conversations where participant_ids @> array[$1::integer]', [
      person,
    ]);
  });

  it('never matches a conversation without a start', async () => {
    const id = await insert(person, null, null);
    const found = await find(person, 'open-circle', '2031-01-01T10:00:00Z');
    expect(found.map((item) => item.id)).not.toContain(id);
    await fixture.env.sql('delete from conversations.conversations where participant_ids @> array[$1::integer]', [
      person,
    ]);
  });

  it('matches only the requested journey and participant', async () => {
    await insert(fixture.personId('cleo'), '2031-01-01T10:00:00Z', null);
    const [other] = await find(person, 'plain', '2031-01-01T10:00:00Z');
    expect(other?.participants.map((item) => item.id)).toEqual([person]);
    await fixture.env.sql('delete from conversations.conversations where participant_ids @> array[$1::integer]', [
      person,
    ]);
  });

  it('returns all matching conversations ordered by start, then id, and creates none', async () => {
    const late = await insert(person, '2031-01-01T10:00:00Z', null);
    const early = await insert(person, '2031-01-01T09:00:00Z', null);
    const alsoLate = await insert(person, '2031-01-01T10:00:00Z', null);
    const found = await find(person, 'open-circle', '2031-01-01T10:00:00Z');
    expect(found.map((item) => item.id)).toEqual([early, late, alsoLate]);
    await fixture.env.sql('delete from conversations.conversations where participant_ids @> array[$1::integer]', [
      person,
    ]);
  });

  it('returns more matching conversations than fit in one message, in order', async () => {
    await fixture.env.sql(
      `insert into conversations.conversations (journey_id, start_at, participant_ids, infos)
       select $1, '2031-01-01T00:00:00Z'::timestamptz + n * interval '1 second', array[$2::integer], jsonb_build_object('text', repeat('x', 2000))
       from generate_series(1, 700) as n`,
      [fixture.ids['journeys']?.['open-circle'], person],
    );
    const found = await find(person, 'open-circle', '2031-01-02T00:00:00Z');
    expect(found).toHaveLength(700);
    expect(found.map((item) => item.id)).toEqual(found.map((item) => item.id).toSorted((a, b) => a - b));
    await fixture.env.sql('delete from conversations.conversations where participant_ids @> array[$1::integer]', [
      person,
    ]);
  });
});

describe('conversations.find-active errors, in order (rules/conversations#find-or-create; D3)', () => {
  it.each([999_999, 0, -1, 2 ** 31, 1e20])(
    'returns person_not_found for person %d before it checks the journey',
    async (person) => {
      expect(await refusal(person, 'unknown')).toMatchObject({ code: 'not_found', reason: 'person_not_found' });
    },
  );

  it.each(['unknown', '', 'hosting'])('returns journey_not_found for journey "%s"', async (journey) => {
    expect(await refusal(fixture.personId('ada'), journey)).toMatchObject({
      code: 'not_found',
      reason: 'journey_not_found',
    });
  });

  it.each(['shared', 'orphan'])(
    'returns journey_ownership_ambiguous for journey "%s", which belongs to two events or to none',
    async (journey) => {
      expect(await refusal(fixture.personId('ada'), journey)).toMatchObject({
        code: 'conflict',
        reason: 'journey_ownership_ambiguous',
      });
    },
  );

  it('returns a matching conversation of a journey without an owner', async () => {
    await fixture.env.sql(
      `insert into conversations.conversations (journey_id, start_at, participant_ids) values ($1, '2029-12-31T00:00:00Z', array[$2::integer])`,
      [fixture.ids['journeys']?.['shared'], fixture.personId('ada')],
    );
    expect(await find(fixture.personId('ada'), 'shared', '2030-01-01T00:00:00Z')).toHaveLength(1);
  });
});

describe('the directory cache of conversations (architecture#ownership: reading one’s own write)', () => {
  it('returns the new name of a person as soon as the rename was answered', async () => {
    const created = await fixture.create('open-circle', 'cleo');
    expect(created.participants[0]?.name).toBe('Cleo');
    await fixture.apply({ people: [{ key: 'cleo', name: 'Cleopatra', contact: {}, actor_kind: 'human' }] });
    const read = await fixture.get(created.id);
    expect(read.participants[0]?.name).toBe('Cleopatra');
  });

  it('returns the new names of a step and a journey as soon as the rename was answered', async () => {
    const created = await fixture.create('plain');
    expect(created).toMatchObject({ journey_name: 'Plain', step_slug: '' });
    await fixture.apply({ journeys: [{ slug: 'plain', name: 'Plainer', steps: [{ slug: 'first', title: 'First' }] }] });
    expect(await fixture.get(created.id)).toMatchObject({ journey_name: 'Plainer', step_slug: '' });
    expect(await fixture.create('plain')).toMatchObject({ step_slug: 'first', step_title: 'First' });
  });

  it('finds a new person although an earlier look-up cached the id as unknown', async () => {
    const unknown = Math.max(...Object.values(fixture.ids['people'] ?? {})) + 1_000;
    expect(await refusal(unknown, 'plain')).toMatchObject({ reason: 'person_not_found' });
    const { ids } = await fixture.apply({ people: [{ key: 'new', name: 'New', contact: {}, actor_kind: 'human' }] });
    await waitFor(async () => (await find(ids['people']?.['new'] ?? 0, 'plain', '2030-01-01T00:00:00Z')).length === 1);
  });
});
