import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Answer, Call, Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let other: Demo;
let count = 0;
let questions: number[];
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  demo = await applyDemo(platform, 'que');
  other = await applyDemo(platform, 'oth');
  questions = (await get(await fresh())).questions.map((question: { id: number }) => question.id);
});
afterAll(() => platform.stop());

async function fresh(): Promise<number> {
  count += 1;
  return (await createConversation(platform, demo, new Date(Date.UTC(2025, 0, 1) - count * 3_600_000).toISOString()))
    .id;
}
const get = async (id: number) => (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
const change = (id: number, key: string | undefined, json: unknown, call: Call = {}): Promise<Answer> =>
  platform.call('POST', `/api/coherence/conversations/${id}/question-changes`, {
    json,
    ...call,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
const ahead = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();
const first = (): number => questions[0] ?? 0;
const second = (): number => questions[1] ?? 0;

describe('POST /conversations/{id}/question-changes (rules/questions#record-a-change)', () => {
  it('returns 201 for the first change, and 200 with `replayed` for an identical retry in any offset', async () => {
    const id = await fresh();
    const body = { ok: true, conversationId: id, questionId: first(), occurredAt: '2026-05-01T10:00:00.250000Z' };
    const written = await change(id, 'k', { questionId: first(), occurredAt: '2026-05-01T12:00:00.25+02:00' });
    expect([written.status, written.json]).toEqual([201, { ...body, replayed: false }]);
    for (const occurredAt of [
      '2026-05-01T12:00:00.25+02:00',
      '2026-05-01T10:00:00.250Z',
      '2026-05-01T04:30:00.250000-05:30',
    ]) {
      const again = await change(id, 'k', { questionId: first(), occurredAt });
      expect([again.status, again.json]).toEqual([200, { ...body, replayed: true }]);
    }
    expect((await get(id)).question_state.changes).toHaveLength(1);
  });

  it('returns question_state, and sorts a change that arrives late by its time (D14a)', async () => {
    const id = await fresh();
    expect((await get(id)).question_state).toEqual({ active_question_id: null, changes: [] });
    await change(id, 'b', { questionId: second(), occurredAt: '2026-05-01T10:02:00Z' });
    await change(id, 'a', { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' });
    expect((await get(id)).question_state).toEqual({
      active_question_id: second(),
      changes: [
        { question_id: first(), occurred_at: '2026-05-01T10:00:00Z', duration_seconds: 120 },
        { question_id: second(), occurred_at: '2026-05-01T10:02:00Z', duration_seconds: null },
      ],
    });
    await change(id, 'c', { questionId: first(), occurredAt: '2026-05-01T10:00:30.000001Z' });
    const { active_question_id: active, changes } = (await get(id)).question_state;
    expect(active).toBe(second());
    expect(changes.map((item: { duration_seconds: number | null }) => item.duration_seconds)).toEqual([
      30.000001,
      89.999999,
      null,
    ]);
  });

  it('preserves the order of arrival of changes with equal times and different keys', async () => {
    const id = await fresh();
    const occurredAt = '2026-05-01T10:00:00Z';
    for (const [key, questionId] of [
      ['x', second()],
      ['y', first()],
      ['z', second()],
    ] as const)
      await change(id, key, { questionId, occurredAt });
    const state = (await get(id)).question_state;
    expect(state.changes.map((item: { question_id: number }) => item.question_id)).toEqual([
      second(),
      first(),
      second(),
    ]);
    expect([state.active_question_id, state.changes[0].duration_seconds]).toEqual([second(), 0]);
  });

  it('changes updated_at for a new change, and not for a replay (D9a)', async () => {
    const id = await fresh();
    const before = (await get(id)).updated_at;
    await change(id, 'k', { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' });
    const after = (await get(id)).updated_at;
    expect(after > before).toBe(true);
    await change(id, 'k', { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' });
    expect((await get(id)).updated_at).toBe(after);
  });

  it('does not change infos or config when it records a question change', async () => {
    const id = await fresh();
    const { infos, config } = await get(id);
    await change(id, 'k', { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' });
    expect(await get(id)).toMatchObject({ infos, config });
  });

  it('returns one 201 and 49 replays for 50 concurrent identical question changes', async () => {
    const id = await fresh();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        change(id, 'storm', { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200 && answer.json.replayed)).toHaveLength(49);
    expect((await get(id)).question_state.changes).toHaveLength(1);
  });

  it('stores all of 50 different concurrent question changes', async () => {
    const id = await fresh();
    const times = Array.from({ length: 50 }, (_, n) =>
      new Date(Date.UTC(2026, 4, 1, 10, 0, (n * 37) % 50)).toISOString(),
    );
    await Promise.all(
      times.map((occurredAt, n) => change(id, `key-${n}`, { questionId: questions[n % 2], occurredAt })),
    );
    const { changes } = (await get(id)).question_state;
    expect(changes.map((item: { duration_seconds: number | null }) => item.duration_seconds)).toEqual([
      ...Array.from({ length: 49 }, () => 1),
      null,
    ]);
  });
});

describe('question-changes, idempotency (D14, D16a)', () => {
  it('returns 409 for a used key with other content, before other checks of the content', async () => {
    const id = await fresh();
    await change(id, 'k', { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' });
    for (const json of [
      { questionId: second(), occurredAt: '2026-05-01T10:00:00Z' },
      { questionId: first(), occurredAt: '2026-05-01T10:00:00.000001Z' },
      { questionId: 999_999_999, occurredAt: '2026-05-01T10:00:00Z' },
      { questionId: first(), occurredAt: ahead(3_600) },
    ]) {
      const answer = await change(id, 'k', json);
      expect([answer.status, answer.json.error]).toEqual([409, 'idempotency_conflict']);
    }
    expect((await get(id)).question_state.changes).toHaveLength(1);
  });

  it('allows reusing the key of a rejected question change', async () => {
    const id = await fresh();
    await change(id, 'k', { questionId: first(), occurredAt: ahead(3_600) });
    await change(id, 'k', { questionId: 999_999_999, occurredAt: '2026-05-01T10:00:00Z' });
    expect((await change(id, 'k', { questionId: second(), occurredAt: '2026-05-01T11:00:00Z' })).status).toBe(201);
  });

  it('scopes a key to the conversation, separately from keys of /recorded', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const json = { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' };
    await platform.call('POST', `/api/coherence/conversations/${one}/recorded`, {
      json: {},
      headers: { 'idempotency-key': 'same' },
    });
    expect([(await change(one, 'same', json)).status, (await change(two, 'same', json)).status]).toEqual([201, 201]);
    await platform.call('POST', `/api/coherence/conversations/${two}/recorded`, {
      json: {},
      headers: { 'idempotency-key': 'same' },
    });
    expect((await get(two)).step_slug).toBe('second');
  });

  it('stores keys for longer than the 24 hours of keys of /recorded', async () => {
    const id = await fresh();
    const json = { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' };
    await change(id, 'k', json);
    await platform.sql(
      `update conversations.question_changes set received_at = received_at - interval '30 days' where conversation_id = $1`,
      [id],
    );
    expect((await change(id, 'k', json)).json.replayed).toBe(true);
  });
});

describe('question-changes, errors (rules/questions#record-a-change; D14 to D16)', () => {
  it('returns 400 for a time more than five minutes in the future, and accepts an earlier time', async () => {
    const id = await fresh();
    const answer = await change(id, 'k', { questionId: first(), occurredAt: ahead(330) });
    expect([answer.status, answer.json]).toEqual([
      400,
      { detail: expect.any(String), error: 'occurred_at_in_future', message: expect.any(String) },
    ]);
    expect((await get(id)).question_state.changes).toEqual([]);
    expect((await change(id, 'k', { questionId: first(), occurredAt: ahead(270) })).status).toBe(201);
  });

  it('returns 400 for a question of another journey, or when the conversation has no journey (D15)', async () => {
    const id = await fresh();
    const foreign = (await createConversation(platform, other)).questions[0]?.id ?? 0;
    for (const questionId of [foreign, 999_999_999, 0, -1, 2 ** 40]) {
      const answer = await change(id, 'k', { questionId, occurredAt: '2026-05-01T10:00:00Z' });
      expect([answer.status, answer.json]).toEqual([
        400,
        { error: 'question_not_in_journey', message: expect.any(String) },
      ]);
    }
  });

  it.each([[undefined], [''], ['   '], ['x'.repeat(256)]])(
    'returns 422 for the question change key %j',
    async (key) => {
      const answer = await change(await fresh(), key, { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' });
      expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['header', 'Idempotency-Key']]);
    },
  );

  it('accepts a question change key of 255 characters', async () => {
    expect(
      (await change(await fresh(), 'x'.repeat(255), { questionId: first(), occurredAt: '2026-05-01T10:00:00Z' }))
        .status,
    ).toBe(201);
  });

  it.each([
    [{ occurredAt: '2026-05-01T10:00:00Z' }, 'missing', 'questionId'],
    [{ questionId: 'x', occurredAt: '2026-05-01T10:00:00Z' }, 'int_parsing', 'questionId'],
    [{ questionId: 1.5, occurredAt: '2026-05-01T10:00:00Z' }, 'int_from_float', 'questionId'],
    [{ questionId: 1 }, 'missing', 'occurredAt'],
    [{ questionId: 1, occurredAt: 5 }, 'datetime_type', 'occurredAt'],
    [{ questionId: 1, occurredAt: '2026-02-30T10:00:00Z' }, 'datetime_parsing', 'occurredAt'],
    [{ questionId: 1, occurredAt: '2026-05-01T10:00:00' }, 'timezone_aware', 'occurredAt'],
  ])('returns 422 for the question change %j', async (json, type, field) => {
    const answer = await change(await fresh(), 'k', json);
    expect([answer.status, answer.json.detail[0].type, answer.json.detail[0].loc]).toEqual([
      422,
      type,
      ['body', 'payload', field],
    ]);
  });

  it('returns 404 for question changes of an unknown conversation', async () => {
    expect((await change(999_999_999, 'k', { questionId: 1, occurredAt: '2026-05-01T10:00:00Z' })).json).toEqual({
      detail: 'Not Found',
    });
  });
});
