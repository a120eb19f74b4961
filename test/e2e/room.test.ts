import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let count = 0;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  demo = await applyDemo(platform, 'room');
});
afterAll(() => platform.stop());

async function fresh(): Promise<number> {
  count += 1;
  return (await createConversation(platform, demo, new Date(Date.UTC(2025, 0, 1) - count * 3_600_000).toISOString()))
    .id;
}
const room = (id: number) => `/api/coherence/conversations/${id}/enter-coherence`;
const write = (id: number, json: unknown) => platform.call('POST', room(id), { json });
const read = async (id: number) => (await platform.client.readRoom({ path: { conversation_id: id } })).body;
describe('POST and GET enter-coherence (rules/room#room-state)', () => {
  it('returns an empty room before the first write', async () => {
    const state = await read(await fresh());
    expect(state).toMatchObject({
      meetingId: null,
      recordingId: null,
      version: null,
      phase: null,
      conversationStartedAt: null,
      captureEndedAt: null,
      transcriptWindowComplete: false,
    });
    expect(state.participants ?? []).toEqual([]);
    expect(state.claims ?? {}).toEqual({});
    expect(state).not.toHaveProperty('sessionId');
  });

  it('stores the room state and returns the merged state', async () => {
    const id = await fresh();
    const body = {
      phase: 'conversation',
      version: 3,
      meetingId: 'm-1',
      participants: [{ customParticipantId: 'c-1' }],
    };
    const answer = await platform.client.writeRoom({ path: { conversation_id: id }, body });
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, conversationId: id, meetingId: 'm-1', version: 3, phase: 'conversation', participantCount: 1 },
    ]);
    expect(await read(id)).toMatchObject({ meetingId: 'm-1', version: 3, phase: 'conversation' });
  });

  it('returns the room state in config.enter-coherence and does not change the journey step', async () => {
    const id = await fresh();
    await write(id, { phase: 'exit-lounge', version: 1 });
    const conversation = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
    expect(conversation.config['enter-coherence']).toMatchObject({ phase: 'exit-lounge', version: 1 });
    expect(conversation.step_slug).toBe('first');
  });

  it('merges claims by name', async () => {
    const id = await fresh();
    const claim = { personId: demo.ada, claimedAt: '2026-05-01T10:00:00Z' };
    await write(id, { claims: { Ada: claim } });
    await write(id, { claims: { Ben: { ...claim, personId: demo.ben } } });
    expect((await read(id)).claims).toMatchObject({ Ada: { personId: demo.ada }, Ben: { personId: demo.ben } });
  });

  it('preserves a stored recording when the request omits it or sends null', async () => {
    const id = await fresh();
    await write(id, { recordingId: 'r-1', recordingEndedAt: '2026-05-01T11:00:00Z' });
    await write(id, { recordingId: null, recordingEndedAt: null });
    await write(id, { phase: 'lounge' });
    expect((await read(id)).recordingId).toBe('r-1');
    const config = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json.config;
    expect(config['enter-coherence']).toMatchObject({ recordingId: 'r-1', recordingEndedAt: '2026-05-01T11:00:00Z' });
  });

  it('adds or updates participants by customParticipantId, and preserves assignedAt (D26b)', async () => {
    const id = await fresh();
    await write(id, {
      participants: [
        {
          customParticipantId: 'c-1',
          displayName: 'Ada',
          personId: demo.ada,
          mediaParticipantId: 'media-1',
          browserSessionId: 'b-1',
          assignedAt: '2026-05-01T10:00:00Z',
          lastCredentialIssuedAt: '2026-05-01T10:00:00Z',
        },
      ],
    });
    const answer = await write(id, {
      participants: [
        {
          customParticipantId: 'c-1',
          mediaParticipantId: 'media-2',
          assignedAt: '2026-05-01T12:00:00Z',
          lastCredentialIssuedAt: '2026-05-01T10:30:00Z',
        },
        { customParticipantId: 'c-2', displayName: 'Guest' },
      ],
    });
    expect(answer.json.participantCount).toBe(2);
    const [first, second] = (await read(id)).participants;
    expect(first).toMatchObject({
      customParticipantId: 'c-1',
      displayName: 'Ada',
      personId: demo.ada,
      browserSessionId: 'b-1',
      mediaParticipantId: 'media-2',
      assignedAt: '2026-05-01T10:00:00Z',
      lastCredentialIssuedAt: '2026-05-01T10:30:00Z',
    });
    expect(second).toMatchObject({ customParticipantId: 'c-2', displayName: 'Guest' });
  });

  it('accepts sessionId of any type, does not store it, and reports it as deprecated', async () => {
    const id = await fresh();
    for (const sessionId of ['s-1', 7, null, { a: 1 }, [1]]) {
      const answer = await write(id, { sessionId, phase: 'lounge' });
      expect([answer.status, answer.headers.get('deprecation')]).toEqual([200, 'true']);
    }
    expect(JSON.stringify(await read(id))).not.toContain('sessionId');
    expect((await platform.call('GET', `/api/coherence/conversations/${id}`)).text).not.toContain('sessionId');
  });

  it('returns 404 for the room of an unknown conversation', async () => {
    expect((await write(999_999_999, { phase: 'a' })).json).toEqual({ detail: 'Not Found' });
    expect((await platform.call('GET', room(999_999_999))).status).toBe(404);
  });

  it.each([
    { phase: '' },
    { phase: 'x'.repeat(65) },
    { phase: 5 },
    { version: 'one' },
    { version: 1.5 },
    { claims: [] },
    { claims: { Ada: { personId: 'x', claimedAt: '2026-05-01T10:00:00Z' } } },
    { participants: {} },
    { participants: [{}] },
    { meetingId: 5 },
    { conversationStartedAt: 'soon' },
  ])('returns 422 for the room state %j and writes nothing (D8)', async (body) => {
    const id = await fresh();
    expect((await write(id, body)).status).toBe(422);
    expect(await read(id)).toMatchObject({
      meetingId: null,
      phase: null,
      version: null,
      transcriptWindowComplete: false,
    });
  });
});

describe('enter-coherence, conflicts (rules/room#room-state; D23)', () => {
  it('accepts any expectedVersion at the first write, and afterwards rejects an outdated one', async () => {
    const id = await fresh();
    expect((await write(id, { expectedVersion: 9, version: 1 })).status).toBe(200);
    expect((await write(id, { expectedVersion: 1, version: 2 })).status).toBe(200);
    const stale = await write(id, { expectedVersion: 1, version: 3, phase: 'late' });
    expect([stale.status, stale.json]).toEqual([
      409,
      { error: 'version_conflict', message: expect.any(String), currentVersion: 2 },
    ]);
    expect(await read(id)).toMatchObject({ version: 2, phase: null });
  });

  it('returns currentVersion null when the stored state has no version', async () => {
    const id = await fresh();
    await write(id, { phase: 'lounge' });
    expect((await write(id, { expectedVersion: 1 })).json).toMatchObject({
      error: 'version_conflict',
      currentVersion: null,
    });
  });

  it('rejects a request with another meeting, and writes none of its fields', async () => {
    const id = await fresh();
    await write(id, { meetingId: 'm-1' });
    const answer = await write(id, { meetingId: 'm-2', phase: 'x', conversationStartedAt: '2026-05-01T10:00:00Z' });
    expect([answer.status, answer.json]).toEqual([
      409,
      { error: 'meeting_conflict', message: expect.any(String), currentMeetingId: 'm-1' },
    ]);
    expect(await read(id)).toMatchObject({ meetingId: 'm-1', phase: null, conversationStartedAt: null });
  });

  it('returns one 200 and one 409 for two concurrent first writes of different meetings', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await fresh();
      const answers = await Promise.all([write(id, { meetingId: 'm-a' }), write(id, { meetingId: 'm-b' })]);
      expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    }
  });

  it('checks a room write in the order version, meeting, window conflict, window order', async () => {
    const id = await fresh();
    await write(id, { version: 1, meetingId: 'm-1', conversationStartedAt: '2026-05-01T10:00:00Z' });
    const bad = {
      expectedVersion: 5,
      meetingId: 'm-2',
      conversationStartedAt: '2026-05-01T11:00:00Z',
      captureEndedAt: '2026-05-01T09:00:00Z',
    };
    expect((await write(id, { ...bad, captureEndedAt: '2026-05-01T09:00:00' })).json.error).toBe(
      'invalid_transcript_window',
    );
    expect((await write(id, bad)).json.error).toBe('version_conflict');
    expect((await write(id, { ...bad, expectedVersion: 1 })).json.error).toBe('meeting_conflict');
    expect((await write(id, { ...bad, expectedVersion: 1, meetingId: 'm-1' })).json.error).toBe(
      'transcript_boundary_conflict',
    );
    expect((await write(id, { captureEndedAt: '2026-05-01T09:00:00Z' })).json.error).toBe('invalid_transcript_window');
  });
});

describe('transcript window (rules/room#transcript-window)', () => {
  it('accepts the window start and end in separate writes, and reports the window complete after both', async () => {
    const id = await fresh();
    const first = await write(id, { conversationStartedAt: '2026-05-01T10:00:00.5Z' });
    expect(first.json).toMatchObject({
      conversationStartedAt: '2026-05-01T10:00:00.500000Z',
      captureEndedAt: null,
      transcriptWindowComplete: false,
    });
    const second = await write(id, { captureEndedAt: '2026-05-01T13:00:00+02:00' });
    expect(second.json).toMatchObject({
      conversationStartedAt: '2026-05-01T10:00:00.500000Z',
      captureEndedAt: '2026-05-01T11:00:00Z',
      transcriptWindowComplete: true,
    });
    expect(await read(id)).toMatchObject({
      conversationStartedAt: '2026-05-01T10:00:00.500000Z',
      captureEndedAt: '2026-05-01T11:00:00Z',
      transcriptWindowComplete: true,
    });
  });

  it('accepts a stored boundary in another offset without a change, and rejects a different boundary', async () => {
    const id = await fresh();
    await write(id, { conversationStartedAt: '2026-05-01T10:00:00Z', captureEndedAt: '2026-05-01T11:00:00Z' });
    expect((await write(id, { conversationStartedAt: '2026-05-01T12:00:00+02:00' })).status).toBe(200);
    const answer = await write(id, { conversationStartedAt: '2026-05-01T10:00:00.000001Z', phase: 'x' });
    expect([answer.status, answer.json.error, answer.json.currentConversationStartedAt]).toEqual([
      409,
      'transcript_boundary_conflict',
      '2026-05-01T10:00:00Z',
    ]);
    expect((await write(id, { captureEndedAt: '2026-05-01T11:00:01Z' })).json).toMatchObject({
      error: 'transcript_boundary_conflict',
      currentCaptureEndedAt: '2026-05-01T11:00:00Z',
    });
    expect((await read(id)).phase).toBeNull();
  });

  it('does not change the window for null and omitted boundaries', async () => {
    const id = await fresh();
    await write(id, { conversationStartedAt: '2026-05-01T10:00:00Z' });
    expect((await write(id, { conversationStartedAt: null, captureEndedAt: null })).status).toBe(200);
    expect(await read(id)).toMatchObject({ conversationStartedAt: '2026-05-01T10:00:00Z', captureEndedAt: null });
  });

  it.each([
    {
      conversationStartedAt: '2026-05-01T10:00:00Z',
      captureEndedAt: '2026-05-01T10:00:00Z',
      phase: 'x',
      participants: [{ customParticipantId: 'c' }],
    },
    { conversationStartedAt: '2026-05-01T10:00:00Z', captureEndedAt: '2026-05-01T09:00:00Z', phase: 'x' },
    { conversationStartedAt: '2026-05-01T10:00:00', phase: 'x' },
    { captureEndedAt: '2026-05-01T10:00:00', phase: 'x' },
  ])('returns 400 invalid_transcript_window for the window %j and writes nothing', async (body) => {
    const id = await fresh();
    const answer = await write(id, body);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_transcript_window']);
    expect(await read(id)).toMatchObject({ phase: null, conversationStartedAt: null, captureEndedAt: null });
  });
});
