import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conversations } from '#services/conversations';
import {
  attendee,
  type BookingSimulator,
  type Chain,
  createBookingSimulator,
  createChain,
  names,
  seated,
  uidOf,
} from './booking-simulator.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
let simulator: BookingSimulator;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  simulator = createBookingSimulator(fixture);
});
afterAll(() => fixture.stop());

describe('BOOKING_CANCELLED (rules/bookings#booking-webhook; D19a)', () => {
  it('deletes the conversation and adds a note without an author for every participant', async () => {
    const chain = createChain();
    const before = {
      ada: (await simulator.personNotes('ada')).length,
      ben: (await simulator.personNotes('ben')).length,
    };
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    const [conversation] = await simulator.booked(chain);
    const receipt = await simulator.settle(
      chain.envelope('BOOKING_CANCELLED', 0, { cancellationReason: 'ill', startTime: '2030-01-15T10:00:00+00:00' }),
    );
    expect(receipt).toMatchObject({ outcome: 'applied', conversation_id: conversation?.id });
    expect(await fixture.refusal(conversations.rpcs.get, { conversation_id: conversation?.id ?? 0 })).toMatchObject({
      code: 'not_found',
    });
    for (const key of ['ada', 'ben'] as const) {
      const note = await waitFor(async () =>
        (await simulator.personNotes(key)).length > before[key] ? (await simulator.personNotes(key))[0] : undefined,
      );
      expect(note).toMatchObject({ note_type: 'booking', author_person: null, body: expect.stringContaining('ill') });
    }
  });

  it('matches earlier uids of a rescheduled booking', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    const cancelled = { ...chain.envelope('BOOKING_CANCELLED', 0), createdAt: '2030-01-02T00:00:00Z' };
    expect(await simulator.settle(cancelled)).toMatchObject({ outcome: 'applied' });
    expect(await simulator.booked(chain)).toEqual([]);
  });

  it('applies a cancellation that arrives before the creation once the booking is created', async () => {
    const chain = createChain();
    const waiting = await simulator.settle(chain.envelope('BOOKING_CANCELLED', 0));
    expect(waiting.outcome).toBe('waiting');
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await waitFor(async () => (await simulator.booked(chain)).length === 0);
    expect(await fixture.call(conversations.rpcs.showWebhook, { id: waiting.id })).toMatchObject({
      outcome: 'applied',
    });
  });

  it('does not restore a cancelled booking when its creation is delivered again', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await simulator.settle(chain.envelope('BOOKING_CANCELLED', 0));
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { title: 'Intro, again' }));
    expect(await simulator.booked(chain)).toEqual([]);
  });
});

describe('bookings with invalid times (D82)', () => {
  it.each([
    ['BOOKING_CREATED', { startTime: 'soon' }],
    ['BOOKING_RESCHEDULED', { endTime: '' }],
  ])('adds a note and creates no conversation for %s with %j', async (trigger, times) => {
    const chain = createChain();
    const before = (await simulator.personNotes('ada')).length;
    expect(await simulator.settle(chain.envelope(trigger, 0, times))).toMatchObject({
      outcome: 'refused_times',
      conversation_id: null,
    });
    expect(await simulator.booked(chain)).toEqual([]);
    const note = await waitFor(async () =>
      (await simulator.personNotes('ada')).length > before ? (await simulator.personNotes('ada'))[0] : undefined,
    );
    expect(note).toMatchObject({
      note_type: 'booking_error',
      body: expect.stringContaining('cannot be read as a datetime'),
    });
  });

  it('accepts cancellations with invalid times, and uses the start as end when the end is earlier', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { endTime: '2030-01-15T09:00:00Z' }));
    expect(await simulator.booked(chain)).toMatchObject([
      { start: '2030-01-15T10:00:00Z', finish: '2030-01-15T10:00:00Z' },
    ]);
    await simulator.settle(chain.envelope('BOOKING_CANCELLED', 0, { startTime: '', endTime: 'never' }));
    expect(await simulator.booked(chain)).toEqual([]);
  });
});

describe('an attendee with only a phone number (D83)', () => {
  it('stores an attendee by phone number, and finds an existing person with the same number', async () => {
    const guest = (phoneNumber: string) => ({
      name: 'Fon',
      email: `${phoneNumber.replaceAll(/\D/g, '')}@SMS.cal.com`,
      phoneNumber,
    });
    const chains = [createChain(), createChain(), createChain()];
    for (const [index, phone] of ['+49 151 1234567', '0049151-1234567', '+49 (0)151 1234567'].entries())
      await simulator.settle(chains[index]?.envelope('BOOKING_CREATED', 0, { attendees: [guest(phone)] }));
    const people = await fixture.env.sql(
      `select contact ->> 'phone' as phone from directory.people where name = 'Fon'`,
    );
    expect(people).toEqual([{ phone: '+49 151 1234567' }]);
    const booked = await Promise.all(chains.map(async (chain) => names((await simulator.booked(chain))[0])));
    expect(booked).toEqual([
      ['Ada', 'Fon'],
      ['Ada', 'Fon'],
      ['Ada', 'Fon'],
    ]);
  });
});

describe('incomplete booking events', () => {
  it('links a reschedule with invalid times, so that its cancellation matches the booking (D79, D82)', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    const [conversation] = await simulator.booked(chain);
    expect(await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1, { startTime: '31/12/2027' }))).toMatchObject(
      { outcome: 'refused_times', conversation_id: conversation?.id },
    );
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T10:00:00Z' }]);
    await simulator.settle(chain.envelope('BOOKING_CANCELLED', 1));
    expect(await simulator.booked(chain)).toEqual([]);
  });

  it.each([
    ['asks one of two seats for another time', { requestReschedule: true }],
    ['leaves out that the booking has seats', { seatsPerTimeSlot: undefined }],
  ])('removes only the named attendee when a cancellation %s (D78, D81)', async (_what, extra) => {
    const chain = createChain();
    for (const guest of ['Ben', 'Cleo']) await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 0, [guest]));
    await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 1, ['Ben'], extra));
    expect(await simulator.seatsOf(chain, 0)).toEqual(['Ada', 'Cleo']);
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T10:00:00Z' }]);
  });

  it('processes an incomplete event after an earlier event with the same booking number (D80)', async () => {
    const chain = createChain({ ical: true });
    await simulator.deliver(chain.envelope('BOOKING_CREATED', 0));
    await simulator.settle(
      chain.envelope('BOOKING_RESCHEDULED', 1, { uid: undefined, rescheduleUid: undefined, bookingId: undefined }),
    );
    await waitFor(async () => (await findOpenJobs()).length === 0);
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T11:00:00Z' }]);
  });
});

const orderOf = (count: number) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count });

/** Returns the queued and running jobs that process booking receipts. */
const findOpenJobs = () =>
  fixture.env.sql(
    `select from conversations.jobs where type = 'conversations.booking-event' and state in ('queued', 'running')`,
  );

describe('a reschedule request that waits for confirmation (D79, D102)', () => {
  const request = (chain: Chain, extra = {}) =>
    chain.envelope('BOOKING_REQUESTED', 1, { rescheduleUid: uidOf(chain, 0), ...extra });
  const confirm = (chain: Chain, trigger: string) =>
    chain.envelope(trigger, 1, {
      rescheduleUid: undefined,
      iCalUID: 'another@Cal.com',
      attendees: [attendee('Ben'), attendee('Cleo')],
    });

  it.each([
    ['before', 'BOOKING_CREATED', [0, 1, 2]],
    ['after', 'BOOKING_CREATED', [0, 2, 1]],
    ['after', 'BOOKING_RESCHEDULED', [0, 2, 1]],
    ['before the first booking and', 'BOOKING_CREATED', [2, 1, 0]],
    ['before all and', 'BOOKING_RESCHEDULED', [1, 2, 0]],
  ])(
    'links the two bookings of a request %s its %s to one conversation without duplicates',
    async (_when, trigger, order) => {
      const chain = createChain();
      const events = [chain.envelope('BOOKING_CREATED', 0), request(chain), confirm(chain, trigger)];
      for (const place of order) await simulator.settle(events[place]);
      expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T11:00:00Z' }]);
      expect(names((await simulator.booked(chain))[0])?.toSorted()).toEqual(['Ada', 'Ben', 'Cleo']);
    },
  );

  it('does not change a booking without a second booking', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    const before = await simulator.booked(chain);
    expect(await simulator.settle(request(chain, { attendees: [attendee('Stranger')] }))).toMatchObject({
      outcome: 'applied',
    });
    expect(await simulator.booked(chain)).toEqual(before);
    expect(await simulator.settle(request(createChain(), { rescheduleUid: undefined }))).toMatchObject({
      outcome: 'ignored',
    });
  });

  it.each([[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[0, 1, 3, 2]]])(
    'moves the named attendees of a booking with seats, in order %j',
    async (order) => {
      const chain = createChain();
      const events = [
        seated(chain, 'BOOKING_CREATED', 1, 0, ['Ben', 'Cleo']),
        seated(chain, 'BOOKING_CREATED', 2, 1, ['Zed']),
        seated(chain, 'BOOKING_REQUESTED', 2, 2, ['Ben'], { rescheduleUid: uidOf(chain, 1) }),
        seated(chain, 'BOOKING_CREATED', 2, 3, ['Ben']),
      ];
      for (const place of order) await simulator.settle(events[place]);
      expect([await simulator.seatsOf(chain, 1), await simulator.seatsOf(chain, 2)]).toEqual([
        ['Ada', 'Cleo'],
        ['Ada', 'Ben', 'Zed'],
      ]);
    },
  );

  /** Two reschedule requests follow the booking before one of them is confirmed. */
  const asked = (chain: Chain) => [
    chain.envelope('BOOKING_CREATED', 0),
    chain.envelope('BOOKING_REQUESTED', 1, { rescheduleUid: uidOf(chain, 0) }),
    chain.envelope('BOOKING_REQUESTED', 2, { rescheduleUid: uidOf(chain, 1) }),
  ];
  it.each<[what: string, last: string, found: object[]]>([
    ['confirmed', 'BOOKING_CREATED', [{ start: '2030-01-15T12:00:00Z' }]],
    ['cancelled', 'BOOKING_CANCELLED', []],
  ])('creates no duplicate, in any order, when another request follows and %s', async (_what, last, found) => {
    await fc.assert(
      fc.asyncProperty(orderOf(4), async (order) => {
        const chain = createChain();
        const events = [...asked(chain), chain.envelope(last, 2, { attendees: [attendee('Ben')] })];
        for (const place of order) await simulator.settle(events[place]);
        await waitFor(async () => (await simulator.booked(chain)).length === found.length);
        expect(await simulator.booked(chain)).toMatchObject(found);
      }),
      { numRuns: 4, seed: 38, examples: [[[0, 1, 2, 3]], [[3, 1, 2, 0]]] },
    );
  });

  it('moves a conversation that waits for a new time to the confirmed time of its second reschedule request', async () => {
    const chain = createChain();
    const events = [...asked(chain), { ...chain.envelope('BOOKING_CREATED', 2), createdAt: '2030-01-01T01:00:00Z' }];
    await simulator.settle(events[0]);
    await simulator.settle(chain.envelope('BOOKING_CANCELLED', 0, { requestReschedule: true }));
    for (const event of events.slice(1)) await simulator.settle(event);
    expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T12:00:00Z' }]);
  });

  const toward = (chain: Chain, link: number) => ({ rescheduleUid: uidOf(chain, link), attendeeSeatId: 'seat' });
  it.each<[what: string, events: (chain: Chain) => object[], seats: (string[] | undefined)[]]>([
    [
      'followed by another request and confirmed',
      (chain) => [
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Ben']),
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo'], { title: 'Other' }),
        seated(chain, 'BOOKING_REQUESTED', 2, 2, ['Ben'], toward(chain, 1)),
        seated(chain, 'BOOKING_REQUESTED', 3, 3, ['Ben'], toward(chain, 2)),
        seated(chain, 'BOOKING_CREATED', 3, 4, ['Ben']),
      ],
      [['Ada', 'Cleo'], undefined, ['Ada', 'Ben']],
    ],
    [
      'followed by another request and cancelled',
      (chain) => [
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Ben']),
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo'], { title: 'Other' }),
        seated(chain, 'BOOKING_REQUESTED', 2, 2, ['Ben'], toward(chain, 1)),
        seated(chain, 'BOOKING_REQUESTED', 3, 3, ['Ben'], toward(chain, 2)),
        seated(chain, 'BOOKING_CANCELLED', 3, 4, ['Ben']),
      ],
      [['Ada', 'Cleo'], undefined, undefined],
    ],
    [
      'confirmed, and moved on',
      (chain) => [
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Ben']),
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo'], { title: 'Other' }),
        seated(chain, 'BOOKING_REQUESTED', 2, 2, ['Ben'], toward(chain, 1)),
        seated(chain, 'BOOKING_CREATED', 2, 3, ['Ben']),
        seated(chain, 'BOOKING_RESCHEDULED', 3, 4, ['Ben'], toward(chain, 2)),
      ],
      [['Ada', 'Cleo'], undefined, ['Ada', 'Ben']],
    ],
    [
      'confirmed, and cancelled',
      (chain) => [
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Ben']),
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo'], { title: 'Other' }),
        seated(chain, 'BOOKING_REQUESTED', 2, 2, ['Ben'], toward(chain, 1)),
        seated(chain, 'BOOKING_CREATED', 2, 3, ['Ben']),
        seated(chain, 'BOOKING_CANCELLED', 2, 4, ['Ben']),
      ],
      [['Ada', 'Cleo'], undefined, undefined],
    ],
    [
      'confirmed, and asked for again, but not confirmed',
      (chain) => [
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Ben']),
        seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo'], { title: 'Other' }),
        seated(chain, 'BOOKING_REQUESTED', 2, 2, ['Ben'], toward(chain, 1)),
        seated(chain, 'BOOKING_CREATED', 2, 3, ['Ben']),
        seated(chain, 'BOOKING_REQUESTED', 1, 4, ['Ben'], toward(chain, 2)),
      ],
      [['Ada', 'Cleo'], ['Ada', 'Ben'], undefined],
    ],
  ])(
    'assigns the same seats in every event order for a reschedule request of one seat, %s',
    async (_what, eventsOf, seats) => {
      const count = eventsOf(createChain()).length;
      await fc.assert(
        fc.asyncProperty(orderOf(count), async (order) => {
          const chain = createChain();
          const events = eventsOf(chain);
          for (const place of order) await simulator.settle(events[place]);
          await waitFor(async () => (await findOpenJobs()).length === 0);
          expect(await Promise.all([1, 2, 3].map((link) => simulator.seatsOf(chain, link)))).toEqual(seats);
        }),
        { numRuns: 5, seed: 38, examples: [[[...Array(count).keys()]], [[0, 1, 3, 4, 2]]] },
      );
    },
  );
});
