import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeExpiredKeys } from '#libs/infrastructure/idempotency';
import { createDatabase } from '#libs/infrastructure/orm';
import { conversations, type RecordedWrite } from '#services/conversations';
import { recordedKeys } from '../../../services/conversations/conversation/statements.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const refusal = (id: number, write: RecordedWrite, key: string | null = null) =>
  fixture.refusal(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: key, write });
const recordedNotes = async (id: number) => (await fixture.notes(id)).filter((note) => note.note_type === 'recorded');
const start = '2030-01-01T10:00:00Z';
const end = '2030-01-01T11:00:00Z';

describe('conversations.recorded advances the step (rules/conversations#recorded; D16a)', () => {
  it('advances to the next active step, adds a note without an author, and starts the job of that step', async () => {
    const { id } = await fixture.create();
    const moved = await fixture.recorded(id);
    expect(moved).toMatchObject({ step_slug: 'import', step_title: 'Import' });
    expect(await fixture.notes(id)).toEqual([
      {
        id: expect.any(Number),
        body: expect.stringContaining('Import'),
        note_type: 'recorded',
        created_at: expect.any(String),
        author_person: null,
      },
    ]);
    await waitFor(() => fixture.importsOf(id).length === 1);
    expect(fixture.importsOf(id)).toEqual([
      { conversation_id: id, step_id: expect.any(Number), cause: 'step_entered' },
    ]);
  });

  it('advances and adds a note on each call without a key, and only adds a note at the last step', async () => {
    const { id } = await fixture.create();
    await fixture.recorded(id);
    expect(await fixture.recorded(id)).toMatchObject({ step_slug: 'done' });
    expect(await fixture.recorded(id)).toMatchObject({ step_slug: 'done' });
    expect(await recordedNotes(id)).toHaveLength(3);
  });

  it('names the person of a per-user token as author of the note', async () => {
    const { id } = await fixture.create();
    const actor = {
      kind: 'user',
      accountId: 1,
      personId: fixture.personId('ben'),
      superuser: false,
      globalEditor: false,
      coherenceAccess: true,
    } as const;
    await fixture.call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} }, actor);
    const [note] = await fixture.notes(id);
    expect(note?.author_person).toEqual({
      id: fixture.personId('ben'),
      name: 'Ben',
      photo: null,
      contact: { email: 'Ben@Example.org' },
    });
  });

  it('adds a note and merges the body when the journey has no steps', async () => {
    const { id } = await fixture.create('plain');
    expect(await fixture.recorded(id, { infos: { a: 1 } })).toMatchObject({ step_slug: '', infos: { a: 1 } });
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('merges infos and config by the namespace rules, and changes nothing if the body has a reserved key', async () => {
    const { id } = await fixture.create();
    const before = await fixture.get(id);
    expect(await refusal(id, { infos: { a: 1 }, config: { booking: null } })).toMatchObject({
      code: 'bad_request',
      reason: 'invalid_namespace_placement',
    });
    expect(await refusal(id, { config: { publishing: {} }, captureEndedAt: end })).toMatchObject({
      reason: 'invalid_namespace_placement',
    });
    expect(await fixture.get(id)).toEqual(before);
    expect(await recordedNotes(id)).toEqual([]);
    await fixture.patch(id, { infos: { kept: true } });
    expect(await fixture.recorded(id, { infos: { publishing: { fields: {} } }, config: { own: 1 } })).toMatchObject({
      infos: { kept: true, publishing: { fields: {} } },
      config: { own: 1 },
    });
  });

  it('rejects a stale expected_updated_at (D9)', async () => {
    const { id, updated_at } = await fixture.create();
    await fixture.patch(id, { infos: { a: 1 } });
    const error = await refusal(id, { expected_updated_at: updated_at });
    expect(error).toMatchObject({
      code: 'conflict',
      reason: 'stale_conversation',
      details: { updated_at: (await fixture.get(id)).updated_at },
    });
    expect(await recordedNotes(id)).toEqual([]);
    const { updated_at: present } = await fixture.get(id);
    expect(await fixture.recorded(id, { expected_updated_at: present })).toMatchObject({ step_slug: 'import' });
  });

  it('returns 404 for an unknown conversation before it checks the rest of the call', async () => {
    expect(await refusal(999_999, { captureEndedAt: '2030-01-01T10:00:00' })).toMatchObject({
      code: 'not_found',
      reason: undefined,
    });
  });
});

describe('finish of a recorded conversation (D21)', () => {
  it('sets finish to the capture end of this or an earlier call', async () => {
    const [one, two] = [await fixture.create(), await fixture.create()];
    expect(await fixture.recorded(one.id, { captureEndedAt: end })).toMatchObject({ finish: end });
    await fixture.writeRoom(two.id, { captureEndedAt: start });
    expect(await fixture.recorded(two.id)).toMatchObject({ finish: start });
  });

  it('sets finish to the start at the earliest, so that the same look-up finds the conversation', async () => {
    const time = '2030-06-01T10:00:00Z';
    const request = { person_id: fixture.personId('cleo'), journey: 'open-circle', time };
    const [created] = await fixture.call(conversations.rpcs.findActive, request);
    fixture.clock.set('2030-05-01T10:00:00Z');
    expect(await fixture.recorded(created?.id ?? 0)).toMatchObject({ start: time, finish: time });
    expect((await fixture.call(conversations.rpcs.findActive, request)).map(({ id }) => id)).toEqual([created?.id]);
    const [early] = await fixture.call(conversations.rpcs.findActive, { ...request, time: '2030-07-01T10:00:00Z' });
    expect(await fixture.recorded(early?.id ?? 0, { captureEndedAt: '2030-06-30T10:00:00Z' })).toMatchObject({
      finish: '2030-07-01T10:00:00Z',
    });
  });

  it('sets finish to the server’s time without a capture end, and keeps a stored finish', async () => {
    const { id } = await fixture.create();
    fixture.clock.set('2030-02-02T02:02:02.000002Z');
    expect(await fixture.recorded(id)).toMatchObject({ finish: '2030-02-02T02:02:02.000002Z' });
    fixture.clock.set('2030-02-03T00:00:00Z');
    expect(await fixture.recorded(id, { captureEndedAt: end })).toMatchObject({
      finish: '2030-02-02T02:02:02.000002Z',
    });
  });
});

describe('captureEndedAt on /recorded (rules/conversations#recorded; D22)', () => {
  it('stores the same boundary as enter-coherence, named captureEndedAt or capture_ended_at', async () => {
    const [one, two] = [await fixture.create(), await fixture.create()];
    await fixture.recorded(one.id, { capture_ended_at: end });
    await fixture.recorded(two.id, { captureEndedAt: end, capture_ended_at: '2030-01-01T12:00:00+01:00' });
    for (const { id } of [one, two])
      expect((await fixture.get(id)).config).toMatchObject({ 'enter-coherence': { captureEndedAt: end } });
  });

  it.each([
    ['two different values', { captureEndedAt: end, capture_ended_at: start }],
    ['no offset', { captureEndedAt: '2030-01-01T11:00:00' }],
    ['no offset in the older name', { capture_ended_at: '2030-01-01T11:00:00' }],
  ])('returns invalid_transcript_window for a capture end with %s, and stores nothing', async (_what, write) => {
    const { id } = await fixture.create();
    const before = await fixture.get(id);
    expect(await refusal(id, write)).toMatchObject({ code: 'bad_request', reason: 'invalid_transcript_window' });
    expect(await fixture.get(id)).toEqual(before);
  });

  it('returns invalid_transcript_window for a capture end that is not after the stored start', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { conversationStartedAt: end });
    expect(await refusal(id, { captureEndedAt: end })).toMatchObject({
      code: 'bad_request',
      reason: 'invalid_transcript_window',
    });
  });

  it('returns transcript_boundary_conflict for another capture end, without a step, note, patch or used key', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { captureEndedAt: end });
    const before = await fixture.get(id);
    const error = await refusal(id, { captureEndedAt: start, infos: { a: 1 } }, 'k');
    expect(error).toMatchObject({
      code: 'conflict',
      reason: 'transcript_boundary_conflict',
      details: { currentCaptureEndedAt: end },
    });
    expect(await fixture.get(id)).toEqual(before);
    expect(await recordedNotes(id)).toEqual([]);
    expect(await fixture.recorded(id, {}, 'k')).toMatchObject({ step_slug: 'import' });
  });

  it('ignores an invalid stored window when the call has no capture end (D7b)', async () => {
    const { id } = await fixture.create();
    const room = JSON.stringify({ conversationStartedAt: end, captureEndedAt: 'nonsense' });
    await fixture.env.sql('update conversations.conversations set room = $2::jsonb where id = $1', [id, room]);
    expect(await fixture.recorded(id)).toMatchObject({ step_slug: 'import' });
  });

  it('starts the import once when the call enters the import step and completes the window (D7a)', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { conversationStartedAt: start });
    await fixture.recorded(id, { captureEndedAt: end });
    await fixture.call(conversations.rpcs.importTranscript, { conversation_id: id });
    await waitFor(() => fixture.importsOf(id).some((job) => job.cause === 'command'));
    expect(fixture.importsOf(id).map((job) => job.cause)).toEqual(['step_entered', 'command']);
  });

  it('starts the import again when the call completes the window after the import step was entered (D7a)', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { conversationStartedAt: start });
    await fixture.recorded(id);
    await fixture.recorded(id, { captureEndedAt: end });
    await waitFor(() => fixture.importsOf(id).length === 2);
    expect(fixture.importsOf(id).map((job) => job.cause)).toEqual(['step_entered', 'window_completed']);
  });
});

describe('Idempotency-Key on /recorded (rules/conversations#recorded; D16a)', () => {
  it('changes nothing for a used key (no step, note, body or finish), and returns the current conversation', async () => {
    const { id } = await fixture.create();
    await fixture.recorded(id, { infos: { a: 1 } }, 'k');
    const patched = await fixture.patch(id, { infos: { b: 2 } });
    const replay = {
      infos: { a: 9, booking: 1 },
      config: { 'enter-coherence': 1 },
      expected_updated_at: '2030-01-01T00:00:00Z',
    };
    expect(await fixture.recorded(id, replay, 'k')).toEqual(patched);
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('accepts the stored capture end in a replay, rejects another with 409, and ignores a new one', async () => {
    const [one, two] = [await fixture.create(), await fixture.create()];
    await fixture.recorded(one.id, { captureEndedAt: end }, 'k');
    expect(await fixture.recorded(one.id, { captureEndedAt: '2030-01-01T12:00:00+01:00' }, 'k')).toMatchObject({
      step_slug: 'import',
    });
    expect(await refusal(one.id, { captureEndedAt: start }, 'k')).toMatchObject({
      code: 'conflict',
      reason: 'transcript_boundary_conflict',
    });
    expect(await refusal(one.id, { captureEndedAt: '2030-01-01T11:00:00' }, 'k')).toMatchObject({
      reason: 'invalid_transcript_window',
    });
    expect(await refusal(one.id, { captureEndedAt: end, capture_ended_at: start }, 'k')).toMatchObject({
      reason: 'invalid_transcript_window',
    });
    await fixture.recorded(two.id, {}, 'k');
    expect((await fixture.recorded(two.id, { captureEndedAt: end }, 'k')).config).toEqual({});
  });

  it('adds one step and one note for 50 concurrent /recorded calls with one key', async () => {
    const { id } = await fixture.create();
    const replies = await Promise.all(Array.from({ length: 50 }, () => fixture.recorded(id, { infos: { a: 1 } }, 'k')));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(await fixture.get(id)).toMatchObject({ step_slug: 'import', infos: { a: 1 } });
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('accepts the same key for another conversation', async () => {
    const [one, two] = [await fixture.create(), await fixture.create()];
    await fixture.recorded(one.id, {}, 'k');
    expect(await fixture.recorded(two.id, {}, 'k')).toMatchObject({ step_slug: 'import' });
    expect(await fixture.recorded(one.id, {}, 'other')).toMatchObject({ step_slug: 'done' });
  });

  it('does not store the key of a rejected call', async () => {
    const { id } = await fixture.create();
    await refusal(id, { config: { booking: 1 } }, 'k');
    expect(await fixture.recorded(id, {}, 'k')).toMatchObject({ step_slug: 'import' });
  });

  it('stores a /recorded key for 24 hours and then accepts it again', async () => {
    const { id } = await fixture.create();
    const age = (interval: string) =>
      fixture.env.sql(
        `update conversations.idempotency_keys set expires_at = expires_at - $2::interval where conversation_id = $1`,
        [id, interval],
      );
    await fixture.recorded(id, {}, 'k');
    await age('23 hours 59 minutes');
    expect(await fixture.recorded(id, {}, 'k')).toMatchObject({ step_slug: 'import' });
    await age('1 minute');
    expect(await fixture.recorded(id, {}, 'k')).toMatchObject({ step_slug: 'done' });
    await age('12 hours');
    await fixture.recorded(id, {}, 'k');
    expect(await recordedNotes(id)).toHaveLength(2);
  });
});

describe('cleanup of /recorded keys (rules/conversations#recorded)', () => {
  it('removes all expired /recorded keys in several batches, and no others', async () => {
    const { id } = await fixture.create();
    const { env } = fixture;
    await env.sql(
      `insert into conversations.idempotency_keys (conversation_id, operation, key, expires_at)
       select $1, 'recorded', 'key-' || n, clock_timestamp() + make_interval(secs => n * 3600 - 20001 * 3600) from generate_series(1, 20002) n`,
      [id],
    );
    const { DATABASE_URL: url = '' } = env.settings;
    const db = await createDatabase({
      url,
      schema: 'conversations',
      poolSize: 1,
      logger: env.logger,
      applicationName: 'cleanup',
    });
    env.onStop(() => db.close());
    await removeExpiredKeys(db, recordedKeys);
    expect(await env.sql('select key from conversations.idempotency_keys where conversation_id = $1', [id])).toEqual([
      { key: 'key-20002' },
    ]);
  });
});
