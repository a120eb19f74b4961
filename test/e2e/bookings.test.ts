import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signBooking, waitFor } from '#libs/product/testing';
import { applyDemo, eventually, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'book');
});
afterAll(() => platform.stop());

let minute = 0;
/** Returns a Cal.com envelope; each one has a `createdAt` one minute later. */
function envelope(triggerEvent: string, payload: Record<string, unknown>): string {
  minute += 1;
  return JSON.stringify({ triggerEvent, createdAt: new Date(Date.UTC(2030, 0, 10, 9, minute)).toISOString(), payload });
}
const guest = (name: string) => ({
  name,
  email: `${name.toLowerCase().replaceAll(' ', '.')}@example.org`,
  timeZone: 'Europe/Paris',
  language: { locale: 'fr' },
});
function created(uid: string, extra: Record<string, unknown> = {}) {
  return envelope('BOOKING_CREATED', {
    uid,
    bookingId: Math.floor(Math.random() * 1e9),
    type: 'intro-30',
    title: 'Intro between Host and Guest',
    status: 'ACCEPTED',
    startTime: '2030-01-15T10:00:00Z',
    endTime: '2030-01-15T10:30:00Z',
    organizer: {
      id: 3,
      name: 'Host',
      email: 'host@example.org',
      timeZone: 'Europe/Berlin',
      language: { locale: 'en' },
    },
    attendees: [guest(`Guest ${uid}`)],
    metadata: { videoCallUrl: `https://meet.example.org/${demo.journey}` },
    iCalUID: `${uid}@Cal.com`,
    iCalSequence: 0,
    ...extra,
  });
}
async function post(
  body: string,
  { person = String(demo.ada), signature = signBooking(body)['x-cal-signature-256'] } = {},
) {
  const answer = await platform.call('POST', `/api/coherence/hook/booking/${person}`, {
    token: null,
    body,
    headers: { 'content-type': 'application/json', 'x-cal-signature-256': signature },
  });
  expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
}
const receipts = (): Promise<any[]> => platform.ask('webhooks', 'list');
async function settled(expected: number): Promise<any[]> {
  return waitFor(async () => {
    const list = await receipts();
    expect(list.length).toBeGreaterThanOrEqual(expected);
    expect(list.filter((item) => item.outcome === 'pending')).toEqual([]);
    return list;
  });
}
/** Returns the booked conversation of `person` at a time inside the booking. */
async function booked(time: string, person = demo.ada, journey = demo.journey): Promise<any[]> {
  const answer = await platform.call(
    'GET',
    `/api/coherence/conversations?person_id=${person}&journey=${journey}&time=${time}`,
  );
  return answer.json.filter((item: any) => item.config.booking !== undefined);
}
const personNotes = (id: number): Promise<any[]> => platform.ask('notes', 'list', '--person', String(id));

describe('POST /hook/booking/{person_id} (rules/bookings#booking-webhook; D19, D19a)', () => {
  it('creates, reschedules and deletes one conversation along the uid chain of a booking', async () => {
    const before = (await receipts()).length;
    await post(created('chain-1'));
    await settled(before + 1);
    const [conversation] = await booked('2030-01-15T10:10:00Z');
    expect(conversation).toMatchObject({
      start: '2030-01-15T10:00:00Z',
      finish: '2030-01-15T10:30:00Z',
      step_slug: 'first',
    });
    expect(conversation.config.booking).toEqual({
      provider: 'cal.com',
      uid: 'chain-1',
      uids: expect.arrayContaining(['chain-1']),
      booking_id: expect.anything(),
      title: 'Intro between Host and Guest',
      last_event_at: expect.any(String),
    });
    expect(conversation.participants.map((item: any) => item.name)).toEqual(['Ada', 'Guest chain-1']);

    const moved = envelope('BOOKING_RESCHEDULED', {
      uid: 'chain-2',
      rescheduleUid: 'chain-1',
      startTime: '2030-01-16T12:00:00Z',
      endTime: '2030-01-16T12:30:00Z',
      attendees: [guest('Guest chain-1'), guest('Second')],
      metadata: { videoCallUrl: `https://meet.example.org/r?journey=${demo.journey}` },
      iCalUID: 'chain-1@Cal.com',
    });
    await post(moved);
    await settled(before + 2);
    const [after] = await booked('2030-01-16T12:10:00Z');
    expect(after).toMatchObject({ id: conversation.id, start: '2030-01-16T12:00:00Z', finish: '2030-01-16T12:30:00Z' });
    expect(after.config.booking).toMatchObject({ uid: 'chain-2' });
    expect(after.config.booking.uids).toEqual(expect.arrayContaining(['chain-1', 'chain-2']));
    expect(after.participants).toHaveLength(3);
    const notes = await platform.ask('notes', 'list', '--conversation', String(conversation.id));
    expect(notes.map((note: any) => [note.note_type, note.author_person])).toEqual([
      ['booking', null],
      ['booking', null],
    ]);

    await post(
      envelope('BOOKING_CANCELLED', {
        uid: 'chain-2',
        status: 'CANCELLED',
        startTime: '2030-01-16T12:00:00+00:00',
        endTime: '2030-01-16T12:30:00+00:00',
        cancellationReason: '',
        attendees: [guest('Guest chain-1')],
      }),
    );
    await settled(before + 3);
    expect((await platform.call('GET', `/api/coherence/conversations/${conversation.id}`)).status).toBe(404);
    await eventually(async () => {
      for (const participant of after.participants) {
        expect(
          (await personNotes(participant.id)).filter(
            (note) => note.note_type === 'booking' && note.author_person === null,
          ),
        ).toHaveLength(1);
      }
    });
  });

  it('applies a booking webhook once when it is received many times', async () => {
    const before = (await receipts()).length;
    const body = created('twice', { startTime: '2030-02-01T10:00:00Z', endTime: '2030-02-01T10:30:00Z' });
    await Promise.all(Array.from({ length: 10 }, () => post(body)));
    await settled(before + 1);
    expect(await booked('2030-02-01T10:10:00Z')).toHaveLength(1);
  });

  it('creates the conversation of a reschedule whose earlier booking is unknown', async () => {
    const before = (await receipts()).length;
    await post(
      envelope('BOOKING_RESCHEDULED', {
        uid: 'late-2',
        rescheduleUid: 'late-1',
        startTime: '2030-03-01T10:00:00Z',
        endTime: '2030-03-01T10:30:00Z',
        attendees: [guest('Late')],
        metadata: { videoCallUrl: `https://meet.example.org/${demo.journey}` },
      }),
    );
    await settled(before + 1);
    expect(await booked('2030-03-01T10:10:00Z')).toHaveLength(1);
  });

  it('applies a cancellation that is received before the creation of the booking', async () => {
    const before = (await receipts()).length;
    const body = created('overtaken', { startTime: '2030-04-01T10:00:00Z', endTime: '2030-04-01T10:30:00Z' });
    await post(envelope('BOOKING_CANCELLED', { uid: 'overtaken', status: 'CANCELLED', attendees: [] }));
    await settled(before + 1);
    await post(body);
    await settled(before + 2);
    await eventually(async () => expect(await booked('2030-04-01T10:10:00Z')).toEqual([]));
  });

  it('ignores an event older than the last applied event of the booking', async () => {
    const before = (await receipts()).length;
    const old = envelope('BOOKING_RESCHEDULED', {
      uid: 'order',
      rescheduleUid: 'order',
      startTime: '2030-05-05T10:00:00Z',
      endTime: '2030-05-05T10:30:00Z',
      attendees: [],
    });
    await post(created('order', { startTime: '2030-05-01T10:00:00Z', endTime: '2030-05-01T10:30:00Z' }));
    await settled(before + 1);
    await post(old);
    await settled(before + 2);
    expect((await booked('2030-05-01T10:10:00Z'))[0].start).toBe('2030-05-01T10:00:00Z');
  });

  it('records a call URL without a conversation journey on the person, and creates no conversation', async () => {
    const before = (await receipts()).length;
    for (const metadata of [{ videoCallUrl: 'https://meet.example.org/no-such-journey' }, {}]) {
      await post(
        created(`lost-${JSON.stringify(metadata).length}`, {
          metadata,
          startTime: '2030-06-01T10:00:00Z',
          endTime: '2030-06-01T10:30:00Z',
        }),
        { person: String(demo.ben) },
      );
    }
    await settled(before + 2);
    expect(await booked('2030-06-01T10:10:00Z', demo.ben)).toEqual([]);
    await eventually(async () =>
      expect((await personNotes(demo.ben)).filter((note) => note.note_type === 'booking_error')).toHaveLength(2),
    );
  });

  it('stores the receipt of a webhook with an invalid signature, and ignores the event', async () => {
    const before = (await receipts()).length;
    await post(created('forged', { startTime: '2030-07-01T10:00:00Z', endTime: '2030-07-01T10:30:00Z' }), {
      signature: 'a'.repeat(64),
    });
    const list = await settled(before + 1);
    expect(list[0].outcome).toBe('rejected_signature');
    expect(await booked('2030-07-01T10:10:00Z')).toEqual([]);
  });

  it.each([
    ['rejected_unreadable', () => '{', undefined],
    [
      'rejected_unidentified',
      () =>
        envelope('BOOKING_CREATED', {
          startTime: '2030-08-01T10:00:00Z',
          endTime: '2030-08-01T10:30:00Z',
          metadata: { videoCallUrl: `https://meet.example.org/${demo.journey}` },
        }),
      undefined,
    ],
    ['person_not_found', () => created('nobody'), '999999999'],
    ['person_not_found', () => created('no-id'), 'abc'],
    ['rejected_too_large', () => `{"triggerEvent":"BOOKING_CREATED","x":"${'x'.repeat(4_194_304)}"}`, undefined],
  ])('returns 200 and stores the receipt with the outcome %s (D19a, D33d)', async (outcome, body, person) => {
    const before = (await receipts()).length;
    await post(body(), person === undefined ? {} : { person });
    const list = await settled(before + 1);
    expect(list[0].outcome).toBe(outcome);
  });

  it.each(['PING', 'MEETING_ENDED'])('returns 200 for %s and changes nothing', async (trigger) => {
    const before = (await receipts()).length;
    await post(envelope(trigger, { type: 'Test', title: 'Test' }));
    await settled(before + 1);
  });

  it.each([
    ['somebody', '1'],
    ['nobody', '999999999'],
    ['400 digits', '9'.repeat(400)],
  ])('returns a plain-text hint for GET with %s', async (_name, id) => {
    const answer = await platform.call('GET', `/api/coherence/hook/booking/${id}`, { token: null });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')]);
  });
});
