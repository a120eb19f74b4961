import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conversations, type RoomWrite } from '#services/conversations';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const refusal = (id: number, write: RoomWrite) =>
  fixture.refusal(conversations.rpcs.writeRoom, { conversation_id: id, write });
const read = (id: number) => fixture.call(conversations.rpcs.readRoom, { conversation_id: id });
const start = '2030-01-01T10:00:00Z';
const end = '2030-01-01T11:00:00Z';

describe('conversations.room.write merges field by field (rules/room#room-state; D8, D26b)', () => {
  it('returns ids and counts of a room write, without the transcript window when no boundary was sent', async () => {
    const { id } = await fixture.create();
    const reply = await fixture.writeRoom(id, {
      phase: 'conversation',
      version: 3,
      meetingId: 'm-1',
      participants: [{ customParticipantId: 'c-1' }, { customParticipantId: 'c-2' }],
    });
    expect(reply).toEqual({
      ok: true,
      conversationId: id,
      meetingId: 'm-1',
      version: 3,
      phase: 'conversation',
      participantCount: 2,
    });
  });

  it('returns the state under config.enter-coherence and never changes the step', async () => {
    const { id, step_slug } = await fixture.create();
    await fixture.writeRoom(id, { phase: 'exit-lounge', version: 1 });
    expect(await fixture.get(id)).toMatchObject({
      step_slug,
      config: { 'enter-coherence': { phase: 'exit-lounge', version: 1 } },
    });
  });

  it('stores the latest phase and version of the room, and keeps omitted and null fields', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { phase: 'lounge', version: 7, recordingId: 'r-1', recordingEndedAt: end });
    await fixture.writeRoom(id, { phase: 'consent', version: 2, recordingId: null, recordingEndedAt: null });
    await fixture.writeRoom(id, {});
    expect(await read(id)).toMatchObject({ phase: 'consent', version: 2, recordingId: 'r-1' });
    const { config } = await fixture.get(id);
    expect(config).toMatchObject({ 'enter-coherence': { recordingEndedAt: end } });
  });

  it('merges claims by display name, even if the name is __proto__', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { claims: { Ada: { personId: 1, claimedAt: '2030-01-01T10:00:00+02:00' } } });
    await fixture.writeRoom(id, {
      claims: JSON.parse('{"__proto__":{"personId":2,"claimedAt":"2030-01-01T10:00:00Z"}}') as NonNullable<
        RoomWrite['claims']
      >,
    });
    await fixture.writeRoom(id, { claims: { Ada: { personId: 3, claimedAt: start } } });
    const { claims } = await read(id);
    expect(Object.entries(claims)).toEqual(
      expect.arrayContaining([
        ['Ada', { personId: 3, claimedAt: start }],
        ['__proto__', { personId: 2, claimedAt: start }],
      ]),
    );
  });

  it('updates room participants by customParticipantId, keeps their original assignedAt, and returns instants in UTC', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, {
      participants: [
        {
          customParticipantId: 'c-1',
          browserSessionId: 'b-1',
          personId: 5,
          displayName: 'Ada',
          mediaParticipantId: 'p-1',
          assignedAt: start,
          lastCredentialIssuedAt: start,
        },
        { customParticipantId: 'c-2' },
      ],
    });
    await fixture.writeRoom(id, {
      participants: [
        {
          customParticipantId: 'c-1',
          displayName: 'Ada L.',
          mediaParticipantId: 'p-2',
          assignedAt: end,
          lastCredentialIssuedAt: end,
        },
      ],
    });
    await fixture.writeRoom(id, {
      recordingEndedAt: '2026-05-01T12:00:00+02:00',
      participants: [
        {
          customParticipantId: 'c-3',
          assignedAt: '2026-05-01T12:00:00+02:00',
          lastCredentialIssuedAt: '2026-05-01T12:00:00',
        },
      ],
    });
    expect((await fixture.get(id)).config).toMatchObject({
      'enter-coherence': { recordingEndedAt: '2026-05-01T10:00:00Z' },
    });
    const { participants } = await read(id);
    expect(participants).toEqual([
      {
        customParticipantId: 'c-1',
        browserSessionId: 'b-1',
        personId: 5,
        displayName: 'Ada L.',
        mediaParticipantId: 'p-2',
        assignedAt: start,
        lastCredentialIssuedAt: end,
      },
      { customParticipantId: 'c-2' },
      {
        customParticipantId: 'c-3',
        assignedAt: '2026-05-01T10:00:00Z',
        lastCredentialIssuedAt: '2026-05-01T12:00:00Z',
      },
    ]);
  });

  it('does not store sessionId and removes a stored one', async () => {
    const { id } = await fixture.create();
    await fixture.env.sql(
      `update conversations.conversations set room = '{"sessionId": "old", "phase": "lounge"}' where id = $1`,
      [id],
    );
    expect(await read(id)).not.toHaveProperty('sessionId');
    await fixture.writeRoom(id, { sessionId: { any: ['type'] } });
    expect((await fixture.get(id)).config).toEqual({ 'enter-coherence': { phase: 'lounge' } });
  });

  it('keeps the data of all of 30 concurrent room writes', async () => {
    const { id } = await fixture.create();
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    await Promise.all(
      names.map((name, index) =>
        fixture.writeRoom(id, {
          claims: { [name]: { personId: index, claimedAt: start } },
          participants: [{ customParticipantId: name }],
        }),
      ),
    );
    const { claims, participants } = await read(id);
    expect(Object.keys(claims).toSorted()).toEqual(names.toSorted());
    expect(participants).toHaveLength(30);
  });

  it('returns 404 for an unknown conversation before it checks the rest of a room write', async () => {
    expect(await refusal(999_999, { conversationStartedAt: '2030-01-01T10:00:00' })).toMatchObject({
      code: 'not_found',
      reason: undefined,
    });
    expect(await fixture.refusal(conversations.rpcs.readRoom, { conversation_id: 999_999 })).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('conversations.room.get (rules/room#room-state; D26b)', () => {
  it('returns null or empty values for a room without a write', async () => {
    const { id } = await fixture.create();
    expect(await read(id)).toEqual({
      meetingId: null,
      recordingId: null,
      version: null,
      phase: null,
      claims: {},
      participants: [],
      conversationStartedAt: null,
      captureEndedAt: null,
      transcriptWindowComplete: false,
    });
  });
});

describe('conversations.room.write guards (rules/room#room-state; D23)', () => {
  it('accepts a first room write with any expected version', async () => {
    const { id } = await fixture.create();
    expect(await fixture.writeRoom(id, { expectedVersion: 9, phase: 'lounge' })).toMatchObject({
      phase: 'lounge',
      version: null,
    });
  });

  it('returns version_conflict with currentVersion, which is null when no version is stored', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { phase: 'lounge' });
    expect(await refusal(id, { expectedVersion: 1 })).toMatchObject({
      code: 'conflict',
      reason: 'version_conflict',
      details: { currentVersion: null },
    });
    await fixture.writeRoom(id, { version: 4 });
    expect(await refusal(id, { expectedVersion: 3, version: 5 })).toMatchObject({ details: { currentVersion: 4 } });
    expect(await fixture.writeRoom(id, { expectedVersion: 4, version: 5 })).toMatchObject({ version: 5 });
  });

  it('accepts exactly one of two concurrent room writes with the same expected version', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { version: 1 });
    const results = await Promise.allSettled(
      [2, 3].map((version) => fixture.writeRoom(id, { expectedVersion: 1, version })),
    );
    expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('accepts the stored meetingId again, and rejects another with meeting_conflict and currentMeetingId without storing anything', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { meetingId: 'm-1' });
    await fixture.writeRoom(id, { meetingId: 'm-1' });
    const before = await fixture.get(id);
    const error = await refusal(id, {
      meetingId: 'm-2',
      phase: 'consent',
      participants: [{ customParticipantId: 'c' }],
      conversationStartedAt: start,
    });
    expect(error).toMatchObject({ code: 'conflict', reason: 'meeting_conflict', details: { currentMeetingId: 'm-1' } });
    expect(await fixture.get(id)).toEqual(before);
  });

  it('accepts exactly one of two concurrent first writes with different meetingIds', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await fixture.create();
      const results = await Promise.allSettled(['m-1', 'm-2'].map((meetingId) => fixture.writeRoom(id, { meetingId })));
      expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const failed = results.find((result) => result.status === 'rejected');
      expect(failed?.reason).toMatchObject({ reason: 'meeting_conflict' });
    }
  });

  it('reports a missing offset before the version, the version before the meeting, and the meeting before the boundaries', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { version: 1, meetingId: 'm-1', conversationStartedAt: start });
    const naive = {
      expectedVersion: 9,
      meetingId: 'm-2',
      conversationStartedAt: end,
      captureEndedAt: '2030-01-01T10:00:00',
    };
    expect(await refusal(id, naive)).toMatchObject({ code: 'bad_request', reason: 'invalid_transcript_window' });
    const aware = { ...naive, captureEndedAt: start };
    expect(await refusal(id, aware)).toMatchObject({ reason: 'version_conflict' });
    expect(await refusal(id, { ...aware, expectedVersion: 1 })).toMatchObject({ reason: 'meeting_conflict' });
    expect(await refusal(id, { ...aware, expectedVersion: 1, meetingId: 'm-1' })).toMatchObject({
      reason: 'transcript_boundary_conflict',
    });
    expect(await refusal(id, { captureEndedAt: start })).toMatchObject({
      code: 'bad_request',
      reason: 'invalid_transcript_window',
    });
  });
});

describe('the transcript window (rules/room#transcript-window, 1 to 6)', () => {
  it('accepts both boundaries in separate writes and completes with the second (rules 1, 6)', async () => {
    const { id } = await fixture.create();
    expect(await fixture.writeRoom(id, { captureEndedAt: end })).toMatchObject({
      conversationStartedAt: null,
      captureEndedAt: end,
      transcriptWindowComplete: false,
    });
    expect(await fixture.writeRoom(id, { conversationStartedAt: null })).not.toHaveProperty('transcriptWindowComplete');
    expect(await fixture.writeRoom(id, { conversationStartedAt: start })).toMatchObject({
      conversationStartedAt: start,
      captureEndedAt: end,
      transcriptWindowComplete: true,
    });
    expect(await read(id)).toMatchObject({
      conversationStartedAt: start,
      captureEndedAt: end,
      transcriptWindowComplete: true,
    });
  });

  it('accepts a stored boundary again in any offset, and keeps its microseconds (rule 2)', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { conversationStartedAt: '2030-01-01T10:00:00.123456Z' });
    const again = await fixture.writeRoom(id, { conversationStartedAt: '2030-01-01T12:00:00.123456+02:00' });
    expect(again).toMatchObject({ conversationStartedAt: '2030-01-01T10:00:00.123456Z' });
    expect(await refusal(id, { conversationStartedAt: '2030-01-01T10:00:00.123457Z' })).toMatchObject({
      reason: 'transcript_boundary_conflict',
    });
  });

  it('returns transcript_boundary_conflict with the current value of each differing boundary (rule 3)', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { conversationStartedAt: start, captureEndedAt: end });
    expect((await refusal(id, { conversationStartedAt: end, captureEndedAt: end })).details).toEqual({
      currentConversationStartedAt: start,
    });
    expect((await refusal(id, { captureEndedAt: start })).details).toEqual({ currentCaptureEndedAt: end });
    expect((await refusal(id, { conversationStartedAt: end, captureEndedAt: start })).details).toEqual({
      currentConversationStartedAt: start,
      currentCaptureEndedAt: end,
    });
  });

  it.each([
    ['end equal to start', { conversationStartedAt: start, captureEndedAt: start }],
    ['end before start', { conversationStartedAt: end, captureEndedAt: start }],
    ['no offset', { conversationStartedAt: '2030-01-01T10:00:00' }],
  ])(
    'returns invalid_transcript_window for a room write with %s, and stores nothing of it (rules 4, 5)',
    async (_what, write) => {
      const { id } = await fixture.create();
      const before = await fixture.get(id);
      expect(
        await refusal(id, { ...write, phase: 'consent', participants: [{ customParticipantId: 'c' }] }),
      ).toMatchObject({
        code: 'bad_request',
        reason: 'invalid_transcript_window',
      });
      expect(await fixture.get(id)).toEqual(before);
    },
  );

  it('accepts room writes for an invalid window of an earlier release (D7b)', async () => {
    const { id } = await fixture.create();
    await fixture.env.sql(`update conversations.conversations set room = $2::jsonb where id = $1`, [
      id,
      JSON.stringify({ conversationStartedAt: end, captureEndedAt: start }),
    ]);
    expect(await fixture.writeRoom(id, { phase: 'lounge', captureEndedAt: start })).toMatchObject({
      captureEndedAt: start,
    });
  });
});

describe('transcript import and the window (rules/steps#pipeline-jobs; D7a)', () => {
  it('starts the import again when the window becomes complete after the import step was entered', async () => {
    const { id } = await fixture.create('straight-in');
    await waitFor(() => fixture.importsOf(id).length === 1);
    await fixture.writeRoom(id, { meetingId: 'm-1', conversationStartedAt: start });
    expect(await fixture.call(conversations.rpcs.getTranscriptSource, { conversation_id: id })).toMatchObject({
      meeting_id: 'm-1',
      window: { conversation_started_at: start, capture_ended_at: null },
    });
    await fixture.writeRoom(id, { captureEndedAt: end });
    await fixture.writeRoom(id, { captureEndedAt: end, phase: 'post-lounge' });
    await waitFor(() => fixture.importsOf(id).length === 2);
    const step_id = expect.any(Number);
    expect(fixture.importsOf(id)).toEqual([
      { conversation_id: id, step_id, cause: 'step_entered' },
      { conversation_id: id, step_id, cause: 'window_completed' },
    ]);
  });

  it('does not start an import for the window of a conversation that never entered an import step', async () => {
    const [idle, other] = [await fixture.create(), await fixture.create('straight-in')];
    await fixture.writeRoom(idle.id, { conversationStartedAt: start, captureEndedAt: end });
    await fixture.writeRoom(other.id, { conversationStartedAt: start, captureEndedAt: end });
    await waitFor(() => fixture.importsOf(other.id).length === 2); // An import of the first conversation would have been published before this second import of the other.
    expect(fixture.importsOf(idle.id)).toEqual([]);
  });
});
