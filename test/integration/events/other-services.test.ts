/** Events published for bookings, transcripts and recordings (rules/events#types; V1, V9). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contextFor, playBytes, provideFfmpeg, provideTimeoutMs, startService, waitFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import {
  createBookingSimulator,
  createChain,
  type BookingSimulator,
  type Chain,
} from '../conversations/booking-simulator.ts';
import { startConversationFixture, type ConversationFixture } from '../conversations/fixture.ts';
import { atSeconds, startRecordingFixture, type RecordingFixture } from '../media/recording-fixture.ts';
import { makeClock } from '../media/talking-clock.ts';
import { fullWindow, row, startTranscriptFixture, type TranscriptFixture } from '../transcripts/fixture.ts';
import { createFeedReader, type FeedReader } from './reader.ts';

/**
 * A caller that, with `CONVERSATION_ACCESS=members`, sees only the conversations in which their person participates
 * (D69).
 */
const member = {
  kind: 'user',
  accountId: 1,
  email: 'member@example.org',
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
  ops: null,
} as const;
const conversation = (id: number) => ({ subject_type: 'conversation' as const, subject_id: id });
/** Returns the events whose type starts with this prefix, such as `transcript`. */
const kindOf = (kind: string, told: readonly [string, object][]): [string, object][] =>
  told.filter(([type]) => type.startsWith(`${kind}.`));

describe('events of bookings', () => {
  let fixture: ConversationFixture;
  let desk: BookingSimulator;
  let feed: FeedReader;
  beforeAll(async () => {
    fixture = await startConversationFixture(import.meta.url, { CONVERSATION_ACCESS: 'members' });
    await startService('events', fixture.env);
    desk = createBookingSimulator(fixture);
    feed = createFeedReader(fixture.bus);
  });
  afterAll(() => fixture.stop());
  /** Returns the creation event of a booking, delivered after the booking was rescheduled to link 5. */
  const late = (chain: Chain) => ({ ...chain.envelope('BOOKING_CREATED', 5), createdAt: '2029-12-31T00:00:00Z' });

  it('emits an event for a rejected booking once, with its note, and none for a stale booking webhook', async () => {
    const cleo = { subject_type: 'person', subject_id: fixture.personId('cleo') } as const;
    const refused = createChain().envelope('BOOKING_CREATED', 0, { metadata: {} });
    const receipt = await desk.settle(refused, { person: String(fixture.personId('cleo')) });
    expect(kindOf('booking', await feed.told(2, cleo))).toEqual([['booking.refused', { reason: 'journey_error' }]]);
    expect(await feed.told(1, { types: 'note.created' })).toEqual([
      [
        'note.created',
        expect.objectContaining({ note_type: 'booking_error', person_id: fixture.personId('cleo'), holon_ids: [] }),
      ],
    ]);

    const settledAt = async (): Promise<unknown> =>
      (await fixture.call(conversations.rpcs.showWebhook, { id: receipt.id })).processed_at;
    const before = await settledAt();
    await fixture.call(conversations.rpcs.replayWebhooks, { ids: [receipt.id], limit: 1 });
    await waitFor(async () => (await settledAt()) !== before);

    const chain = createChain();
    const booked = await desk.settle(chain.envelope('BOOKING_RESCHEDULED', 5));
    expect(await desk.settle(late(chain))).toMatchObject({ outcome: 'stale' });
    const id = booked.conversation_id ?? 0;
    await fixture.patch(id, { infos: { closes: 'the test' } });
    await waitFor(async () => (await feed.told(1, conversation(id))).at(-1)?.[0] === 'conversation.updated');
    expect(kindOf('booking', await feed.told(1, conversation(id)))).toEqual([
      ['booking.applied', { change: 'booked' }],
    ]);
    expect(await feed.told(1, { types: 'booking.refused' })).toHaveLength(1);
  });

  it('makes a conversation readable for a participant added by a stale event or by merged bookings', async () => {
    const ben = fixture.personId('ben');
    const cleo = { person: String(fixture.personId('cleo')) };
    const reader = (personId: number) => ({ ...member, personId });
    const moved = createChain();
    const { conversation_id: id } = await desk.settle(moved.envelope('BOOKING_RESCHEDULED', 5));
    await desk.settle(late(moved), cleo);
    expect(await feed.told(4, conversation(id ?? 0), reader(fixture.personId('cleo')))).toContainEqual([
      'conversation.updated',
      {},
    ]);

    const chain = createChain();
    const { conversation_id: kept } = await desk.settle(chain.envelope('BOOKING_CREATED', 0, { attendees: [] }));
    await desk.settle(chain.envelope('BOOKING_RESCHEDULED', 2));
    expect(await feed.told(0, conversation(kept ?? 0), reader(ben))).toEqual([]);
    await desk.settle(chain.envelope('BOOKING_RESCHEDULED', 1, { attendees: [] }));
    expect(await feed.told(4, conversation(kept ?? 0), reader(ben))).toContainEqual(['conversation.updated', {}]);
  });
});

describe('events of transcripts', () => {
  const minute = 60_000;
  const artifact = (text: string) => ({ rows: [row(minute, minute + 1_000, text)] });
  let recording: TranscriptFixture;
  let feed: FeedReader;
  beforeAll(async () => {
    recording = await startTranscriptFixture(import.meta.url);
    await startService('events', recording.env);
    feed = createFeedReader(recording.bus);
  });
  afterAll(() => recording.stop());

  it('emits one event per failed and per successful transcript import', async () => {
    const { id, writeRoom } = await recording.meet({ artifact: artifact('In.'), window: {}, isRecorded: false });
    const importNow = async (): Promise<void> => {
      const { importTranscript: rpc } = conversations.rpcs;
      const { job_id: jobId } = await recording.bus.call(rpc, { conversation_id: id }, contextFor(rpc));
      const ended = () =>
        recording.env.sql(`select 1 from transcripts.jobs where id = $1 and state = 'succeeded'`, [jobId]);
      await waitFor(async () => (await ended()).length === 1, { what: 'the end of the import' });
    };
    await importNow();
    await importNow();
    await writeRoom(fullWindow);
    await importNow();
    await importNow();
    const { sessionId, id: other } = await recording.meet({ artifact: artifact('Before.') });
    await recording.becomes(other, 'imported');
    recording.provider.setArtifact(sessionId, artifact('After.'));
    const told = async (of: number) => kindOf('transcript', await feed.told(1, conversation(of)));
    // Events are processed in order: when the event of the later conversation exists, all earlier events exist.
    await waitFor(async () => (await told(other)).length === 1);
    expect(await told(id)).toEqual([
      ['transcript.refused', { status: 'transcript_window_missing' }],
      ['transcript.imported', {}],
    ]);
    const { importTranscript: rpc } = conversations.rpcs;
    await recording.bus.call(rpc, { conversation_id: other }, contextFor(rpc));
    await waitFor(async () => (await told(other)).length === 2);
  });

  it('emits an event when the rows of an imported artifact change, for example after a speaker was identified', async () => {
    const participants = [{ customParticipantId: 'cpi-late' }];
    const { id, writeRoom } = await recording.meet({
      artifact: { rows: [row(minute, minute + 1_000, 'In.', 'cpi-late')] },
      participants,
    });
    await recording.becomes(id, 'imported');
    const told = async () => kindOf('transcript', await feed.told(1, conversation(id)));
    await waitFor(async () => (await told()).length === 1);
    const again = async (): Promise<void> => {
      const { job_id: jobId } = await recording.bus.call(
        conversations.rpcs.importTranscript,
        { conversation_id: id },
        contextFor(conversations.rpcs.importTranscript),
      );
      const ended = () =>
        recording.env.sql(`select 1 from transcripts.jobs where id = $1 and state = 'succeeded'`, [jobId]);
      await waitFor(async () => (await ended()).length === 1, { what: 'the end of the import' });
    };
    await again();
    await writeRoom({ participants: [{ customParticipantId: 'cpi-late', personId: recording.personId }] });
    await again();
    await waitFor(async () => (await told()).length === 2);
    await again();
    // Events are processed in order: when the event of the later conversation exists, all earlier events exist.
    const other = await recording.meet({ artifact: artifact('Last.') });
    await recording.becomes(other.id, 'imported');
    await waitFor(async () => kindOf('transcript', await feed.told(1, conversation(other.id))).length === 1);
    expect(await told()).toHaveLength(2);
  });
});

describe('events of recordings', () => {
  let recording: RecordingFixture;
  let feed: FeedReader;
  let content: ReturnType<typeof playBytes>;
  beforeAll(async () => {
    const programs = await provideFfmpeg();
    content = playBytes(await makeClock(programs, 8, 4), '"clock"');
    recording = await startRecordingFixture(import.meta.url, programs);
    await recording.start();
    await startService('events', recording.media.env);
    feed = createFeedReader(recording.media.bus);
  }, provideTimeoutMs);
  afterAll(() => recording.media.stop());

  it('emits an event when a recording is stored and when it is trimmed', async () => {
    const { id, writeRoom } = await recording.meet({ content, cutSeconds: null, journey: 'moving' });
    const told = async () => kindOf('video', await feed.told(1, conversation(id)));
    await waitFor(async () => (await told()).length === 1);
    await writeRoom({ conversationStartedAt: atSeconds(4.1), captureEndedAt: atSeconds(7) });
    await waitFor(async () => (await told()).length === 2);
    await recording.jobs.waitForState(id);
    await recording.jobs.requeue(id);
    expect((await recording.jobs.waitForState(id)).result).toMatchObject({ status: 'unchanged' });
    // Events are processed in order: when the event of the later conversation exists, all earlier events exist.
    const other = await recording.meet({ content, cutSeconds: null });
    await waitFor(async () => kindOf('video', await feed.told(1, conversation(other.id))).length === 1);
    expect(await told()).toEqual([
      ['video.available', {}],
      ['video.available', {}],
    ]);
  });
});
