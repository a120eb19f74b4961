import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { signBooking } from '#libs/product/testing';
import { conversations, type ConversationOut } from '#services/conversations';
import {
  attendee,
  createBookingSimulator,
  createChain,
  eventually,
  type BookingSimulator,
} from './booking-simulator.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
let simulator: BookingSimulator;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  simulator = createBookingSimulator(fixture);
});
afterAll(() => fixture.stop());

/** Returns a list to which the ids of conversations are added whenever a change event is published. */
function listenToChanges(): readonly number[] {
  const told: number[] = [];
  const stop = fixture.bus.subscribeEvent(conversations.events.changed, ({ id }) => void told.push(id));
  fixture.env.onStop(async () => stop());
  return told;
}

describe('BOOKING_CREATED (rules/bookings#booking-webhook; D19, D19a)', () => {
  it('creates a conversation with start, finish, first step, owning event, participants, config.booking and a note for a booking', async () => {
    const chain = createChain();
    const receipt = await simulator.settle(
      chain.envelope('BOOKING_CREATED', 0, { attendees: [attendee('BEN'), attendee('Newcomer')] }),
    );
    expect(receipt).toMatchObject({ outcome: 'applied', event: 'BOOKING_CREATED', deliveries: 1 });
    const [conversation, ...others] = await simulator.booked(chain);
    expect(others).toEqual([]);
    expect(conversation).toMatchObject({
      id: receipt.conversation_id,
      start: '2030-01-15T10:00:00Z',
      finish: '2030-01-15T10:30:00Z',
      journey_slug: 'open-circle',
      step_slug: 'held',
      config: {
        booking: {
          provider: 'cal.com',
          uid: `${chain.name}0`,
          uids: [`${chain.name}0`],
          booking_id: chain.number * 1_000,
          title: 'Intro',
          last_event_at: '2030-01-01T00:00:00Z',
        },
      },
    });
    expect(conversation?.participants.map((person) => person.name)).toEqual(['Ada', 'Ben', 'Newcomer']);
    const [row] = await fixture.env.sql('select event_id from conversations.conversations where id = $1', [
      conversation?.id,
    ]);
    expect(row).toEqual({ event_id: fixture.ids['holons']?.['spring'] });
    expect(await fixture.notes(conversation?.id ?? 0)).toMatchObject([
      { note_type: 'booking', author_person: null, body: expect.stringContaining('"Intro"') },
    ]);
  });

  it.each([
    ['the journey parameter before the path', 'https://meet.example.org/plain?journey=open-circle', 'open-circle'],
    ['path segments from right to left', 'https://meet.example.org/open-circle/plain/room-7', 'plain'],
    ['an encoded segment', 'https://meet.example.org/r/%70lain', 'plain'],
  ])('finds the journey of a booking by %s', async (_what, videoCallUrl, slug) => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { metadata: { videoCallUrl } }));
    expect(await simulator.booked(chain)).toMatchObject([{ journey_slug: slug }]);
  });

  it.each([
    [
      'a named journey that is no conversation journey, without falling back to the path',
      { videoCallUrl: 'https://meet.example.org/open-circle?journey=hosting' },
    ],
    ['a path without a conversation journey', { videoCallUrl: 'https://meet.example.org/hosting/unknown' }],
    ['no video call URL', {}],
    ['a video call URL that is no text', { videoCallUrl: 7 }],
  ])('adds a note about %s to the person in the webhook path, and creates no conversation', async (_what, metadata) => {
    const chain = createChain();
    const before = (await simulator.personNotes('cleo')).length;
    const location = 'https://meet.example.org/open-circle';
    const receipt = await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { metadata, location }), {
      person: String(fixture.personId('cleo')),
    });
    expect(receipt.outcome).toBe('journey_error');
    expect(await simulator.booked(chain)).toEqual([]);
    const note = await waitFor(async () =>
      (await simulator.personNotes('cleo')).length > before ? (await simulator.personNotes('cleo'))[0] : undefined,
    );
    expect(note).toMatchObject({ note_type: 'booking_error', author_person: null });
  });

  it('creates a conversation without an event when the journey has no owning event or several', async () => {
    for (const journey of ['orphan', 'shared']) {
      const chain = createChain();
      await simulator.settle(
        chain.envelope('BOOKING_CREATED', 0, { metadata: { videoCallUrl: `https://x.example.org/${journey}` } }),
      );
      const [conversation] = await simulator.booked(chain);
      expect(
        await fixture.env.sql('select event_id from conversations.conversations where id = $1', [conversation?.id]),
      ).toEqual([{ event_id: null }]);
    }
  });

  it('accepts a flat booking payload, and a body whose content type is not JSON', async () => {
    const chain = createChain();
    const { payload, ...envelope } = chain.envelope('BOOKING_CREATED', 0);
    const body = JSON.stringify({ ...envelope, ...(payload as object) });
    await simulator.settle(undefined, {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...signBooking(body) },
    });
    expect(await simulator.booked(chain)).toMatchObject([{ journey_slug: 'open-circle' }]);
  });

  it('creates one person per booking chain for an attendee without an email', async () => {
    const chain = createChain();
    const attendees = [{ name: 'Nameless' }, { name: 'Nobody', email: '' }];
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { attendees }));
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1, { attendees }));
    const [conversation] = await simulator.booked(chain);
    expect(conversation?.participants.map((person) => person.name)).toEqual(['Ada', 'Nameless', 'Nobody']);
  });

  it('adds the person of a second webhook URL to the conversation of the booking', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0), { person: String(fixture.personId('cleo')) });
    const [conversation, ...others] = await simulator.booked(chain);
    expect(others).toEqual([]);
    expect(conversation?.participants.map((person) => person.id)).toEqual(
      ['ada', 'ben', 'cleo'].map((key) => fixture.personId(key)),
    );
  });
});

describe('BOOKING_RESCHEDULED (rules/bookings#booking-webhook; D19)', () => {
  it('moves the conversation to the new time, keeps its participants, records the new uid and adds a note', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1, { attendees: [attendee('Extra')], metadata: {} }));
    const [conversation, ...others] = await simulator.booked(chain);
    expect(others).toEqual([]);
    expect(conversation).toMatchObject({
      start: '2030-01-15T11:00:00Z',
      finish: '2030-01-15T11:30:00Z',
      config: {
        booking: {
          uid: `${chain.name}1`,
          uids: [`${chain.name}0`, `${chain.name}1`],
          booking_id: chain.number * 1_000 + 1,
          last_event_at: '2030-01-01T00:02:00Z',
        },
      },
    });
    expect(conversation?.participants.map((person) => person.name)).toEqual(['Ada', 'Ben', 'Extra']);
    expect((await fixture.notes(conversation?.id ?? 0)).map((note) => note.note_type)).toEqual(['booking', 'booking']);
  });

  it('adds one note for a reschedule to the same time, even if it is delivered again', async () => {
    const chain = createChain();
    const times = { startTime: '2030-01-15T10:00:00Z', endTime: '2030-01-15T10:30:00Z' };
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, times));
    for (const person of ['ada', 'ben']) {
      const settled = await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1, times), {
        person: String(fixture.personId(person)),
      });
      expect(settled).toMatchObject({ outcome: 'applied' });
    }
    const [conversation] = await simulator.booked(chain);
    expect(conversation).toMatchObject({
      start: times.startTime,
      finish: times.endTime,
      config: { booking: { uid: `${chain.name}1` } },
    });
    expect((await fixture.notes(conversation?.id ?? 0)).map((note) => note.body)).toEqual([
      expect.stringMatching(/^Booking rescheduled: /),
      expect.stringMatching(/^Booking created: /),
    ]);
  });

  it('creates a conversation for a reschedule of an unknown booking', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 5));
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T15:00:00Z' }]);
  });

  it.each([
    ['rescheduleUid', { rescheduleUid: 'first' }],
    ['uid', { uid: 'first' }],
    ['bookingId', { bookingId: 'first' }],
    ['iCalUID', { iCalUID: 'first' }],
  ])('finds the conversation of a rescheduled booking by %s alone', async (_what, keys) => {
    const chain = createChain();
    const first = { uid: `${chain.name}0`, bookingId: `${chain.name}id`, iCalUID: `${chain.name}ical` };
    const matching = { rescheduleUid: first.uid, ...first };
    const [key] = Object.keys(keys) as (keyof typeof matching)[];
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, first));
    const none = { uid: undefined, bookingId: undefined, iCalUID: undefined, rescheduleUid: undefined };
    await simulator.settle(
      chain.envelope('BOOKING_RESCHEDULED', 1, { ...none, [key ?? 'uid']: matching[key ?? 'uid'] }),
    );
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T11:00:00Z' }]);
  });

  it('ignores booking events older than the last applied event, and applies events of the same time', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 2));
    const { config } = (await simulator.booked(chain))[0] as ConversationOut;
    expect(await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1))).toMatchObject({ outcome: 'stale' });
    expect(await simulator.settle(chain.envelope('BOOKING_CREATED', 0))).toMatchObject({ outcome: 'stale' });
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T12:00:00Z', config }]);
    // Sent to the hook of another person, an obsolete event only adds that person.
    const told = listenToChanges();
    const late = { person: String(fixture.personId('cleo')) };
    expect(await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1), late)).toMatchObject({ outcome: 'stale' });
    expect(await simulator.booked(chain)).toMatchObject([
      {
        start: '2030-01-15T12:00:00Z',
        config,
        participants: ['ada', 'ben', 'cleo'].map((key) => ({ id: fixture.personId(key) })),
      },
    ]);
    const [{ id }] = (await simulator.booked(chain)) as [ConversationOut];
    await waitFor(() => told.includes(id));
    await simulator.settle({ ...chain.envelope('BOOKING_RESCHEDULED', 2, { startTime: '2030-01-20T00:00:00Z' }) });
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-20T00:00:00Z' }]);
  });

  it('orders a booking event without a time by its time of receipt', async () => {
    const chain = createChain();
    const { createdAt: _none, ...envelope } = chain.envelope('BOOKING_CREATED', 0);
    await simulator.settle(envelope);
    expect(await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1))).toMatchObject({
      outcome: expect.stringMatching(/applied|stale/),
    });
    const [conversation] = await simulator.booked(chain);
    expect(conversation?.config).not.toMatchObject({ booking: { last_event_at: '2030-01-01T00:00:00Z' } });
  });
});

describe('a booking event that names two bookings (D65)', () => {
  const twoBookings = async () => {
    const [mine, soleIds] = [createChain(), createChain()];
    await simulator.settle(mine.envelope('BOOKING_CREATED', 0));
    await simulator.settle(soleIds.envelope('BOOKING_CREATED', 0));
    const ids = (await Promise.all([mine, soleIds].map((chain) => simulator.booked(chain)))).map((list) => list[0]?.id);
    return { mine, soleIds, ids };
  };

  it.each([
    ['bookingId', (number: number) => ({ bookingId: number })],
    ['rescheduleId', (number: number) => ({ rescheduleId: number })],
  ])('reschedules the booking with the uid of the event, not the booking with its %s', async (_key, number) => {
    const { mine, soleIds, ids } = await twoBookings();
    const before = await simulator.booked(soleIds);
    const moved = mine.envelope('BOOKING_RESCHEDULED', 1, number(soleIds.number * 1_000));
    expect(await simulator.settle(moved)).toMatchObject({ outcome: 'applied', conversation_id: ids[0] });
    expect(await simulator.booked(mine)).toMatchObject([{ id: ids[0], start: '2030-01-15T11:00:00Z' }]);
    expect(await simulator.booked(soleIds)).toEqual(before);
  });

  it('cancels only the booking with the uid of the event, and waits if the uid is unknown', async () => {
    const { mine, soleIds } = await twoBookings();
    const before = await simulator.booked(soleIds);
    const number = { bookingId: soleIds.number * 1_000 };
    expect(await simulator.settle(mine.envelope('BOOKING_CANCELLED', 5, number))).toMatchObject({ outcome: 'waiting' });
    expect(await simulator.settle(mine.envelope('BOOKING_CANCELLED', 0, number))).toMatchObject({ outcome: 'applied' });
    expect(await simulator.booked(mine)).toEqual([]);
    expect(await simulator.booked(soleIds)).toEqual(before);
  });

  it('cancels the booking with the bookingId of a signed event that has no uid', async () => {
    const { mine } = await twoBookings();
    const cancelled = mine.envelope('BOOKING_CANCELLED', 0, { uid: undefined });
    expect(await simulator.settle(cancelled)).toMatchObject({ outcome: 'applied' });
    expect(await simulator.booked(mine)).toEqual([]);
  });
});

describe('a booking event with many attendees (D66)', () => {
  const guests = (prefix: string, count: number) =>
    Array.from({ length: count }, (_value, index) => attendee(`${prefix}${index}`));
  const countPeople = async () =>
    (await fixture.env.sql<{ n: number }>('select count(*)::integer as n from directory.people'))[0]?.n ?? 0;

  it('adds 50 new attendees and any number of known people', async () => {
    const chain = createChain();
    const before = await countPeople();
    const known = Array.from({ length: 60 }, () => attendee('Ben'));
    const twice = attendee('Fifty0'); // one person, even when named several times in different case
    const event = chain.envelope('BOOKING_CREATED', 0, { attendees: [...guests('fifty', 50), ...known, twice] });
    expect(await simulator.settle(event)).toMatchObject({ outcome: 'applied' });
    expect((await countPeople()) - before).toBe(50);
    expect((await simulator.booked(chain))[0]?.participants).toHaveLength(52);
  });

  it.each([
    ['with an email', guests('many', 51)],
    ['without one', Array.from({ length: 51 }, (_value, index) => ({ name: `Nameless ${index}` }))],
  ])('ignores a booking event with 51 new people %s', async (_what, attendees) => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    const [people, before] = [await countPeople(), await simulator.booked(chain)];
    expect(await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1, { attendees }))).toMatchObject({
      outcome: 'refused_too_many_attendees',
      message: 'The booking has 51 unknown people. At most 50 are created per booking.',
    });
    expect(await countPeople()).toBe(people);
    expect(await simulator.booked(chain)).toEqual(before);
    expect(await simulator.settle(createChain().envelope('BOOKING_CREATED', 0, { attendees }))).toMatchObject({
      outcome: 'refused_too_many_attendees',
      conversation_id: null,
    });
    expect(await countPeople()).toBe(people);
  });
});

describe('a booking that is rescheduled repeatedly', () => {
  it('stores only the latest hundred uids in config.booking', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await fixture.env.sql(
      `insert into conversations.booking_identifiers (identifier, booking_id)
       select 'uid:' || $1 || 'moved' || n, (select booking_id from conversations.booking_identifiers where identifier = 'uid:' || $1 || '0')
       from generate_series(1, 150) n`,
      [chain.name],
    );
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    const [conversation] = await simulator.booked(chain);
    const uids = (conversation?.config as { booking: { uids: string[] } } | undefined)?.booking.uids ?? [];
    expect([uids.length, uids.at(0), uids.at(-1)]).toEqual([100, `${chain.name}moved52`, `${chain.name}1`]);
  });
});

describe('booking events in any order (D19: out of order, duplicates)', () => {
  const deliveries = (cancelled: boolean) =>
    fc.shuffledSubarray([0, 1, 2, ...(cancelled ? [3] : []), 10, 12], { minLength: cancelled ? 6 : 5 });

  it.each([
    ['with', true, false],
    ['without', false, false],
    ['with', true, true],
    ['without', false, true],
  ])(
    'applies the state of the latest booking event in every order, %s a stable iCalUID (%s), cancelled: %s',
    async (_word, ical, cancelled) => {
      await fc.assert(
        fc.asyncProperty(deliveries(cancelled), async (order) => {
          const chain = createChain({ ical });
          for (const number of order) {
            const link = number % 10;
            if (link === 3) await simulator.settle(chain.envelope('BOOKING_CANCELLED', 2));
            else
              await simulator.settle(chain.envelope(link === 0 ? 'BOOKING_CREATED' : 'BOOKING_RESCHEDULED', link), {
                person: String(fixture.personId(number < 10 ? 'ada' : 'cleo')),
              });
          }
          const latest = { start: '2030-01-15T12:00:00Z', participants: { length: 3 } };
          await eventually(async () => expect(await simulator.booked(chain)).toMatchObject(cancelled ? [] : [latest]));
        }),
        { numRuns: 5 },
      );
    },
    120_000,
  );

  it('keeps the question changes of both conversations when their booking chains are merged (rules/questions#record-a-change; D14a)', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 2));
    const apart = await simulator.booked(chain);
    expect(apart).toHaveLength(2);
    for (const [index, { id, questions }] of apart.entries()) {
      await fixture.call(conversations.rpcs.recordQuestionChange, {
        conversation_id: id,
        idempotency_key: `key-${index}`,
        change: { questionId: questions[index]?.id ?? 0, occurredAt: `2029-05-01T10:00:0${2 - index}Z` },
      });
    }
    const told = listenToChanges();
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    const [joined, ...more] = await simulator.booked(chain);
    await waitFor(() => told.includes(joined?.id ?? 0));
    const [first, second] = joined?.questions ?? [];
    expect(more).toEqual([]);
    expect(joined?.question_state).toEqual({
      active_question_id: first?.id,
      changes: [
        { question_id: second?.id, occurred_at: '2029-05-01T10:00:01Z', duration_seconds: 1 },
        { question_id: first?.id, occurred_at: '2029-05-01T10:00:02Z', duration_seconds: null },
      ],
    });
  });

  it('creates one conversation for concurrent events of one booking', async () => {
    const chain = createChain();
    const before = await simulator.receiptIds();
    const envelopes = [
      chain.envelope('BOOKING_CREATED', 0),
      chain.envelope('BOOKING_RESCHEDULED', 1),
      chain.envelope('BOOKING_RESCHEDULED', 2),
    ];
    await Promise.all([...envelopes, ...envelopes, ...envelopes].map((envelope) => simulator.deliver(envelope)));
    await waitFor(async () => {
      const { items } = await fixture.call(conversations.rpcs.listWebhooks, { limit: 100 });
      const own = items.filter((item) => !before.has(item.id));
      return own.length === 3 && own.every((item) => item.outcome !== 'pending' && item.deliveries === 3);
    });
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T12:00:00Z' }]);
  });
});
