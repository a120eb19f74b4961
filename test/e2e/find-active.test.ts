import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  demo = await applyDemo(platform, 'find');
});
afterAll(() => platform.stop());

const find = (query: Record<string, string | number>, token?: string | null) => {
  const search = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  return platform.call(
    'GET',
    `/api/coherence/conversations?${search.toString()}`,
    token === undefined ? {} : { token },
  );
};

describe('GET /conversations (rules/conversations#find-or-create; D1)', () => {
  it('creates an unscheduled conversation at the requested time and returns it again for the next call', async () => {
    const query = { person_id: demo.ada, journey: demo.journey, time: '2026-05-01T10:00:00.123456Z' };
    const first = await platform.client.findActiveConversations({ query });
    expect(first.status).toBe(200);
    expect(first.body).toHaveLength(1);
    expect(first.body[0]).toEqual({
      id: expect.any(Number),
      participants: [{ id: demo.ada, name: 'Ada', photo: null, contact: { email: 'ada-find@example.org' } }],
      connected: [],
      infos: {},
      config: {},
      start: '2026-05-01T10:00:00.123456Z',
      finish: null,
      journey_slug: 'journey-find',
      journey_name: 'Journey find',
      journey_description: 'A test journey',
      step_slug: 'first',
      step_title: 'First',
      texts: { welcome: 'Hello', enter: 'Enter', post: 'Post', goodbyeURL: 'https://example.org/bye' },
      questions: [
        { id: expect.any(Number), text: 'What matters now?', order: 0 },
        { id: expect.any(Number), text: 'What next?', order: 1 },
      ],
      question_state: { active_question_id: null, changes: [] },
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/),
    });
    const again = await platform.client.findActiveConversations({ query });
    expect(again.body.map(({ id }) => id)).toEqual([first.body[0]?.id]);
  });

  it('returns a conversation that starts exactly five minutes after the requested time, and creates one for a later start', async () => {
    const other = await applyDemo(platform, 'early');
    const made = await createConversation(platform, other, '2026-06-01T10:05:00Z');
    const exact = await find({ person_id: other.ada, journey: other.journey, time: '2026-06-01T10:00:00Z' });
    expect(exact.json.map((item: any) => item.id)).toEqual([made.id]);
    const beyond = await find({ person_id: other.ada, journey: other.journey, time: '2026-06-01T09:59:59.999999Z' });
    expect(beyond.json.map((item: any) => item.id)).not.toContain(made.id);
    expect(beyond.json[0].start).toBe('2026-06-01T09:59:59.999999Z');
  });

  it('returns all matching conversations by start, and creates none (D2)', async () => {
    const other = await applyDemo(platform, 'many');
    const late = await createConversation(platform, other, '2026-06-02T10:00:00Z');
    const early = await createConversation(platform, other, '2026-06-01T10:00:00Z');
    const all = await find({ person_id: other.ada, journey: other.journey, time: '2026-06-03T10:00:00Z' });
    expect(all.json.map((item: any) => item.id)).toEqual([early.id, late.id]);
  });

  it('does not return conversations of another person or journey', async () => {
    const [other, second] = [await applyDemo(platform, 'apart'), await applyDemo(platform, 'second')];
    const ada = await createConversation(platform, other);
    const ben = await createConversation(platform, other, '2026-05-01T10:00:00Z', other.ben);
    const elsewhere = await createConversation(platform, second, '2026-05-01T10:00:00Z', other.ada);
    expect(new Set([ada.id, ben.id, elsewhere.id]).size).toBe(3);
    expect([ada, ben, elsewhere].map((item) => item.journey_slug)).toEqual([
      other.journey,
      other.journey,
      second.journey,
    ]);
  });

  it('reads a time without an offset as UTC, and a space before an offset as a plus (rules/http#datetimes-in)', async () => {
    const other = await applyDemo(platform, 'naive');
    const naive = await createConversation(platform, other, '2026-05-01T10:00:00');
    expect(naive.start).toBe('2026-05-01T10:00:00Z');
    const answer = await platform.call(
      'GET',
      `/api/coherence/conversations?person_id=${other.ben}&journey=${other.journey}&time=2026-05-01T12:00:00+02:00`,
    );
    expect(answer.json[0].start).toBe('2026-05-01T10:00:00Z');
  });

  it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
    'accepts the year of %s and returns the time unchanged',
    async (time) => {
      const other = await applyDemo(platform, `year-${time.slice(0, 4)}`);
      expect((await createConversation(platform, other, time)).start).toBe(time);
    },
  );

  it('creates one conversation for 50 identical concurrent calls', async () => {
    const other = await applyDemo(platform, 'storm');
    const query = { person_id: other.ada, journey: other.journey, time: '2026-05-01T10:00:00Z' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => find(query)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(new Set(answers.flatMap((answer) => answer.json.map((item: any) => item.id))).size).toBe(1);
  });

  it('accepts a per-user token for find-or-create', async () => {
    const token = await platform.login('ben-find@example.org', 'secret-of-ben-find');
    expect(
      (await find({ person_id: demo.ben, journey: demo.journey, time: '2026-05-01T10:00:00Z' }, token)).status,
    ).toBe(200);
  });
});

describe('GET /conversations, errors (rules/http#error-envelopes; D3)', () => {
  it('returns 401 for find-or-create without a credential', async () => {
    const answer = await find({ person_id: 'x' }, null);
    expect([answer.status, answer.json]).toEqual([401, { detail: 'Unauthorized' }]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([999_999_999, 0, -1, '9223372036854775808'])(
    'returns 404 person_not_found for the person %s',
    async (person) => {
      const answer = await find({ person_id: person, journey: 'no-such', time: '2026-05-01T10:00:00Z' });
      expect([answer.status, answer.json]).toEqual([404, { error: 'person_not_found', message: expect.any(String) }]);
    },
  );

  it('returns 404 journey_not_found for an unknown journey', async () => {
    const answer = await find({ person_id: demo.ada, journey: 'no-such', time: '2026-05-01T10:00:00Z' });
    expect([answer.status, answer.json]).toEqual([404, { error: 'journey_not_found', message: expect.any(String) }]);
  });

  it('returns 404 for a journey that is not a conversation journey', async () => {
    await platform.apply({ journeys: [{ slug: 'hosting', name: 'Hosting', is_conversation: false, steps: [] }] });
    expect((await find({ person_id: demo.ada, journey: 'hosting', time: '2026-05-01T10:00:00Z' })).json.error).toBe(
      'journey_not_found',
    );
  });

  it.each([
    ['no event', []],
    ['two events', ['a', 'b']],
  ])('returns 409 for a journey of %s only when no conversation matches', async (_name, events) => {
    const slug = `owned-${events.length}`;
    await platform.apply({
      journeys: [{ slug, name: slug, is_conversation: true, steps: [] }],
      holons: events.map((name) => ({ slug: `${slug}-${name}`, name, class: 'event', parent: null, journeys: [slug] })),
    });
    const answer = await find({ person_id: demo.ada, journey: slug, time: '2026-05-01T10:00:00Z' });
    expect([answer.status, answer.json]).toEqual([
      409,
      { error: 'journey_ownership_ambiguous', message: expect.any(String) },
    ]);
  });

  it('lists every missing parameter', async () => {
    const answer = await find({});
    expect(answer.status).toBe(422);
    expect(answer.json.detail.map((item: any) => [item.type, item.loc])).toEqual([
      ['missing', ['query', 'person_id']],
      ['missing', ['query', 'journey']],
      ['missing', ['query', 'time']],
    ]);
  });

  it('reports all malformed parameters together', async () => {
    const answer = await find({ person_id: 'abc', journey: demo.journey, time: 'yesterday' });
    expect(answer.status).toBe(422);
    expect(answer.json.detail.map((item: any) => [item.loc, item.type])).toEqual([
      [['query', 'person_id'], 'int_parsing'],
      [['query', 'time'], expect.stringMatching(/^datetime/)],
    ]);
  });
});
