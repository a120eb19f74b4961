import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Call, Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let count = 0;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'rec', [
    { slug: 'first', title: 'First' },
    { slug: 'old', title: 'Old', is_archived: true },
    { slug: 'second', title: 'Second' },
    { slug: 'third', title: 'Third' },
  ]);
});
afterAll(() => platform.stop());

async function fresh(): Promise<number> {
  count += 1;
  return (await createConversation(platform, demo, new Date(Date.UTC(2025, 0, 1) - count * 3_600_000).toISOString()))
    .id;
}
const recorded = (id: number, key?: string, call: Call = {}) =>
  platform.call('POST', `/api/coherence/conversations/${id}/recorded`, {
    ...call,
    headers: { ...(key === undefined ? {} : { 'idempotency-key': key }), ...call.headers },
  });
const get = async (id: number) => (await platform.client.getConversation({ path: { conversation_id: id } })).body;
const notes = (id: number): Promise<any[]> => platform.ask('notes', 'list', '--conversation', String(id));

describe('POST /conversations/{id}/recorded (rules/conversations#recorded)', () => {
  it('advances the conversation to the next active step and adds a note without an author', async () => {
    const id = await fresh();
    const answer = await recorded(id, undefined, { json: { infos: { a: 1 }, config: { b: 2 } } });
    expect([answer.status, answer.json.step_slug, answer.json.infos, answer.json.config]).toEqual([
      200,
      'second',
      { a: 1 },
      { b: 2 },
    ]);
    expect(await get(id)).toEqual(answer.json);
    expect(await notes(id)).toEqual([expect.objectContaining({ note_type: 'recorded', author_person: null })]);
  });

  it('treats a missing body like an empty body', async () => {
    const id = await fresh();
    expect((await recorded(id)).json.step_slug).toBe('second');
  });

  it('advances at each call without a key, and remains on the last step with another note', async () => {
    const id = await fresh();
    const steps: string[] = [];
    for (let round = 0; round < 4; round += 1) steps.push((await recorded(id, undefined, { json: {} })).json.step_slug);
    expect(steps).toEqual(['second', 'third', 'third', 'third']);
    expect(await notes(id)).toHaveLength(4);
  });

  it('applies a key once and ignores the body of a repeated call (D16a)', async () => {
    const id = await fresh();
    const first = await recorded(id, 'k-1', { json: { infos: { a: 1 } } });
    const again = await recorded(id, 'k-1', { json: { infos: { a: 2, b: 1 }, config: { booking: 1 } } });
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect(await notes(id)).toHaveLength(1);
  });

  it('advances by one step and adds one note for 50 concurrent calls with one key', async () => {
    const id = await fresh();
    const answers = await Promise.all(Array.from({ length: 50 }, () => recorded(id, 'storm', { json: {} })));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect((await get(id)).step_slug).toBe('second');
    expect(await notes(id)).toHaveLength(1);
  });

  it('scopes the key of /recorded to the conversation', async () => {
    const [one, two] = [await fresh(), await fresh()];
    await recorded(one, 'shared');
    expect((await recorded(two, 'shared')).json.step_slug).toBe('second');
  });

  it.each(['', '   ', 'x'.repeat(256)])('returns 422 for the /recorded key %j (D16)', async (key) => {
    const id = await fresh();
    const answer = await recorded(id, key);
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['header', 'Idempotency-Key']]);
    expect((await get(id)).step_slug).toBe('first');
  });

  it('sets a missing finish to the capture end, and does not change it on a replay (D21)', async () => {
    const id = await fresh();
    const answer = await recorded(id, 'k', { json: { captureEndedAt: '2026-05-01T11:00:00Z' } });
    expect(answer.json.finish).toBe('2026-05-01T11:00:00Z');
    expect((await recorded(id, 'k')).json.finish).toBe('2026-05-01T11:00:00Z');
    expect((await recorded(id, 'k2')).json.finish).toBe('2026-05-01T11:00:00Z');
  });

  it('sets a missing finish to the server time when the capture end is unknown (D21)', async () => {
    const before = new Date(Date.now() - 2_000).toISOString();
    const { finish } = (await recorded(await fresh())).json;
    expect(finish > before).toBe(true);
  });

  it('rejects reserved keys like PATCH, writes nothing and allows reusing the idempotency key', async () => {
    const id = await fresh();
    const answer = await recorded(id, 'k', { json: { config: { 'enter-coherence': {} } } });
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_namespace_placement']);
    expect([(await get(id)).step_slug, await notes(id)]).toEqual(['first', []]);
    expect((await recorded(id, 'k', { json: {} })).json.step_slug).toBe('second');
  });

  it('returns 409 for another expected_updated_at (D9)', async () => {
    const id = await fresh();
    const stale = await recorded(id, 'k', { json: { expected_updated_at: '2020-01-01T00:00:00Z' } });
    expect([stale.status, stale.json.error]).toEqual([409, 'stale_conversation']);
    expect((await recorded(id, 'k', { json: { expected_updated_at: (await get(id)).updated_at } })).status).toBe(200);
  });

  it('returns 404 for /recorded of an unknown conversation, and 422 for wrong types', async () => {
    expect((await recorded(999_999_999)).json).toEqual({ detail: 'Not Found' });
    const answer = await recorded(await fresh(), undefined, { json: { infos: [] } });
    expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['body', 'payload', 'infos']]);
  });
});

describe('/recorded, transcript window (rules/conversations#recorded; D16a, D22)', () => {
  it('writes the window end once like enter-coherence, and marks the older field name as deprecated', async () => {
    const id = await fresh();
    const answer = await recorded(id, undefined, { json: { capture_ended_at: '2026-05-01T13:00:00+02:00' } });
    expect([answer.status, answer.headers.get('deprecation')]).toEqual([200, 'true']);
    const { body: room } = await platform.client.readRoom({ path: { conversation_id: id } });
    expect(room.captureEndedAt).toBe('2026-05-01T11:00:00Z');
  });

  it('accepts both field names of the window end when they are equal, and rejects them when they differ', async () => {
    const id = await fresh();
    const different = await recorded(id, 'k', {
      json: { captureEndedAt: '2026-05-01T11:00:00Z', capture_ended_at: '2026-05-01T11:00:01Z' },
    });
    expect([different.status, different.json.error]).toEqual([400, 'invalid_transcript_window']);
    const equal = await recorded(id, 'k', {
      json: { captureEndedAt: '2026-05-01T11:00:00Z', capture_ended_at: '2026-05-01T13:00:00+02:00' },
    });
    expect([equal.status, equal.json.step_slug]).toEqual([200, 'second']);
  });

  it('rejects the whole request when the window end conflicts, on the first call and on a replay', async () => {
    const id = await fresh();
    await recorded(id, 'k', { json: { captureEndedAt: '2026-05-01T11:00:00Z' } });
    for (const key of ['k', 'new']) {
      const answer = await recorded(id, key, { json: { captureEndedAt: '2026-05-01T12:00:00Z', infos: { a: 1 } } });
      expect([answer.status, answer.json.error, answer.json.currentCaptureEndedAt]).toEqual([
        409,
        'transcript_boundary_conflict',
        '2026-05-01T11:00:00Z',
      ]);
    }
    const conversation = await get(id);
    expect([conversation.step_slug, conversation.infos]).toEqual(['second', {}]);
    expect((await recorded(id, 'k', { json: { captureEndedAt: '2026-05-01T13:00:00+02:00' } })).status).toBe(200);
  });

  it.each(['2026-05-01T09:00:00Z', '2026-05-01T10:00:00Z', '2026-05-01T11:00:00'])(
    'returns 400 for the unusable window end %s and writes nothing',
    async (captureEndedAt) => {
      const id = await fresh();
      await platform.call('POST', `/api/coherence/conversations/${id}/enter-coherence`, {
        json: { conversationStartedAt: '2026-05-01T10:00:00Z' },
      });
      const answer = await recorded(id, 'k', { json: { captureEndedAt } });
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_transcript_window']);
      expect([(await get(id)).step_slug, await notes(id)]).toEqual(['first', []]);
    },
  );
});
