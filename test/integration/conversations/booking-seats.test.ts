/**
 * Bookings with seats, series, requests and late events over the real service (rules/bookings#seats; D78, D79, D80,
 * D81, D102).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conversations } from '#services/conversations';
import {
  attendee,
  type BookingSimulator,
  type Chain,
  createBookingSimulator,
  createChain,
  eventually,
  names,
  seated,
  uidOf,
} from './booking-simulator.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';
import { byCli } from '../directory/erase.ts';

let fixture: ConversationFixture;
let simulator: BookingSimulator;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  simulator = createBookingSimulator(fixture);
});
afterAll(() => fixture.stop());

describe('a booking with seats (D78, D102)', () => {
  it('adds a participant per seat event, and removes the participant of a cancelled seat but keeps their notes', async () => {
    const chain = createChain();
    for (const [minute, guest] of ['Ben', 'Cleo', 'Dora'].entries())
      expect(await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, minute, [guest]))).toMatchObject({
        outcome: 'applied',
      });
    const [before] = await simulator.booked(chain);
    const noted = (await simulator.personNotes('ben')).length;
    const receipt = await simulator.settle(
      seated(chain, 'BOOKING_CANCELLED', 0, 5, ['Ben'], { startTime: '2031-01-01T00:00:00Z' }),
    );
    expect(receipt).toMatchObject({
      outcome: 'applied',
      message: 'Participants removed.',
      conversation_id: before?.id,
    });
    const [after] = await simulator.booked(chain);
    expect(after).toMatchObject({ id: before?.id, start: before?.start, finish: before?.finish });
    expect(names(after)).toEqual(['Ada', 'Cleo', 'Dora']);
    const note = await waitFor(async () =>
      (await simulator.personNotes('ben')).length > noted ? (await simulator.personNotes('ben'))[0] : undefined,
    );
    expect(note).toMatchObject({ note_type: 'booking', body: expect.stringContaining('Booking cancelled') });
  });

  it.each([
    ['all of them, in two events', [['Ben'], ['Cleo']]],
    ['all of them at once', [['Cleo', 'Ben']]],
    ['none', [[]]],
  ])(
    'deletes the conversation of a booking with seats when the cancelled guests are %s, and restores it for a late guest',
    async (_what, cancelled) => {
      const chain = createChain();
      await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 0, ['Ben']));
      await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 1, ['Cleo']));
      const [before] = await simulator.booked(chain);
      for (const [index, guests] of cancelled.entries())
        await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 5 + index, guests));
      expect(await simulator.booked(chain)).toEqual([]);
      await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 1, ['Cleo'], { title: 'again' }));
      expect(await simulator.booked(chain)).toEqual([]);
      await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 9, ['Dora']));
      expect(await simulator.booked(chain)).toMatchObject([{ id: before?.id }]);
      expect(await simulator.seatsOf(chain, 0)).toEqual(['Ada', 'Dora']);
    },
  );

  it('moves one guest to the booking at the new time and leaves the others', async () => {
    const chain = createChain();
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 1, 0, ['Ben', 'Cleo']));
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 2, 1, ['Zed']));
    const moved = { rescheduleUid: uidOf(chain, 1), attendeeSeatId: 'seat' };
    await simulator.settle(seated(chain, 'BOOKING_RESCHEDULED', 2, 2, ['Ben', 'Zed'], moved));
    expect([await simulator.seatsOf(chain, 1), await simulator.seatsOf(chain, 2)]).toEqual([
      ['Ada', 'Cleo'],
      ['Ada', 'Ben', 'Zed'],
    ]);
    expect((await simulator.booked(chain)).map(({ start }) => start)).toEqual([
      '2030-01-15T11:00:00Z',
      '2030-01-15T12:00:00Z',
    ]);
    await simulator.settle(seated(chain, 'BOOKING_RESCHEDULED', 3, 3, ['Cleo'], { ...moved }));
    expect([await simulator.seatsOf(chain, 1), await simulator.seatsOf(chain, 3)]).toEqual([
      undefined,
      ['Ada', 'Cleo'],
    ]);
  });

  it('keeps the conversation when all guests are moved', async () => {
    const chain = createChain();
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 1, 0, ['Ben']));
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo']));
    const [before] = await simulator.booked(chain);
    await simulator.settle(
      seated(chain, 'BOOKING_RESCHEDULED', 2, 2, ['Ben', 'Cleo'], { rescheduleUid: uidOf(chain, 1) }),
    );
    const uids = [uidOf(chain, 1), uidOf(chain, 2)];
    expect(await simulator.booked(chain)).toMatchObject([
      { id: before?.id, start: '2030-01-15T12:00:00Z', config: { booking: { uids } } },
    ]);
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 1, 1, ['Dora']));
    expect([await simulator.seatsOf(chain, 1), await simulator.seatsOf(chain, 2)]).toEqual([
      ['Ada', 'Dora'],
      ['Ada', 'Ben', 'Cleo'],
    ]);
  });

  it('keeps the conversation of a rejoined guest when an earlier move of all guests arrives late', async () => {
    const chain = createChain();
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 1, 3, ['Ben']));
    await simulator.settle(
      seated(chain, 'BOOKING_RESCHEDULED', 2, 1, ['Ben', 'Cleo'], { rescheduleUid: uidOf(chain, 1) }),
    );
    expect([await simulator.seatsOf(chain, 1), await simulator.seatsOf(chain, 2)]).toEqual([
      ['Ada', 'Ben'],
      ['Ada', 'Ben', 'Cleo'],
    ]);
  });

  it('removes all guests when an event without seats cancels the booking', async () => {
    const chain = createChain();
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 0, ['Ben']));
    await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 1, [], { seatsPerTimeSlot: null }));
    expect(await simulator.booked(chain)).toEqual([]);
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 2, ['Dora']));
    expect(await simulator.seatsOf(chain, 0)).toEqual(['Ada', 'Dora']);
  });

  it('adds the hosts of several webhook URLs as participants, and adds and removes the guest once', async () => {
    const chain = createChain();
    for (const key of ['ada', 'cleo'])
      await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 0, ['Ben']), {
        person: String(fixture.personId(key)),
      });
    expect(names((await simulator.booked(chain))[0])).toEqual(['Ada', 'Cleo', 'Ben']);
    for (const key of ['cleo', 'ada'])
      await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 1, ['Ben']), {
        person: String(fixture.personId(key)),
      });
    expect(await simulator.booked(chain)).toEqual([]);
  });

  it('does not count the host as a guest', async () => {
    const chain = createChain();
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 0, ['Ada', 'Ben']));
    await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 1, ['Ada']));
    expect(await simulator.seatsOf(chain, 0)).toEqual(['Ada', 'Ben']);
    await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 2, ['Ben']));
    expect(await simulator.seatsOf(chain, 0)).toBeUndefined();
  });

  it('removes only the cancelled guest from a booking of the previous release, which has no stored seats', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { attendees: ['Ben', 'Cleo'].map(attendee) }));
    await fixture.env.sql(
      `delete from conversations.booking_attendees where booking_id = (select booking_id from conversations.booking_identifiers where identifier = $1)`,
      [`uid:${uidOf(chain, 0)}`],
    );
    await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 5, ['Ben']));
    expect(await simulator.seatsOf(chain, 0)).toEqual(['Ada', 'Cleo']);
  });

  it('removes a merged guest by a cancellation of their seat, and an erased guest by the erasure', async () => {
    const chain = createChain();
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 0, ['Mo']));
    await simulator.settle(seated(chain, 'BOOKING_CREATED', 0, 1, ['Ida']));
    const [{ id, participants } = { id: 0, participants: [] }] = await simulator.booked(chain);
    const [mo = 0, ida = 0] = ['Mo', 'Ida'].map((name) => participants.find((person) => person.name === name)?.id ?? 0);
    await fixture.call(conversations.rpcs.mergePerson, { gone_id: mo, into_id: fixture.personId('cleo'), after: 0 });
    await simulator.settle(seated(chain, 'BOOKING_CANCELLED', 0, 2, ['Mo']));
    expect(names(await fixture.get(id))).toEqual(['Ada', 'Ida']);
    const erased = { person_id: ida, emails: ['ida@example.org'], name: 'Ida', after: 0, dry_run: false, by: byCli };
    await fixture.call(conversations.rpcs.erasePerson, erased);
    const rows = await fixture.env.sql(
      `select a.person_id, b.was_erased_from from conversations.bookings b left join conversations.booking_attendees a on a.booking_id = b.id
       where b.conversation_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ person_id: fixture.personId('cleo'), was_erased_from: true }]);
  });

  it('assigns the same seats in every order of seat events, sequential and concurrent', async () => {
    const events = (chain: Chain) => [
      seated(chain, 'BOOKING_CREATED', 1, 0, ['Ben']),
      seated(chain, 'BOOKING_CREATED', 1, 1, ['Cleo']),
      seated(chain, 'BOOKING_CREATED', 1, 2, ['Dora']),
      seated(chain, 'BOOKING_CANCELLED', 1, 3, ['Dora']),
      seated(chain, 'BOOKING_RESCHEDULED', 2, 4, ['Ben'], { rescheduleUid: uidOf(chain, 1), attendeeSeatId: 'seat' }),
      seated(chain, 'BOOKING_CANCELLED', 2, 5, ['Ben']),
      seated(chain, 'BOOKING_CREATED', 2, 6, ['Eve']),
    ];
    const count = events(createChain()).length;
    const order = fc.shuffledSubarray([...Array(count).keys()], { minLength: count });
    const check = async (chain: Chain) =>
      eventually(async () =>
        expect([await simulator.seatsOf(chain, 1), await simulator.seatsOf(chain, 2)]).toEqual([
          ['Ada', 'Cleo'],
          ['Ada', 'Eve'],
        ]),
      );
    await fc.assert(
      fc.asyncProperty(order, fc.boolean(), async (places, atOnce) => {
        const chain = createChain();
        const delivered = places.map((place) => events(chain)[place]);
        if (atOnce) await Promise.all(delivered.map((event) => simulator.deliver(event)));
        else for (const event of delivered) await simulator.settle(event);
        await check(chain);
      }),
      { numRuns: 6, examples: [[[...Array(count).keys()].toReversed(), false]] },
    );
  });

  it('adds all of twenty guests whose events have the same time, and reports a replayed webhook as applied', async () => {
    const chain = createChain();
    const guests = Array.from({ length: 20 }, (_value, index) => `Second${index}`);
    const before = await simulator.receiptIds();
    await Promise.all(
      guests
        .toReversed()
        .map((guest, index) => simulator.deliver(seated(chain, 'BOOKING_CREATED', 0, 0, [guest], { note: index }))),
    );
    await eventually(async () => expect(await simulator.seatsOf(chain, 0)).toHaveLength(21));
    const receipts = (await fixture.call(conversations.rpcs.listWebhooks, { limit: 100 })).items.filter(
      ({ id }) => !before.has(id),
    );
    expect(receipts.map(({ outcome }) => outcome)).toEqual(guests.map(() => 'applied'));
    const id = receipts[0]?.id ?? 0;
    await fixture.call(conversations.rpcs.replayWebhooks, { ids: [id], limit: 1 });
    await waitFor(
      async () => (await fixture.call(conversations.rpcs.showWebhook, { id })).message === 'Nothing to change.',
    );
  });
});

describe('a series of bookings with one iCalUID (D79)', () => {
  const weekly = async () => {
    const chain = createChain();
    const iCalUID = `${chain.name}series@Cal.com`;
    for (const link of [0, 1, 2, 3]) await simulator.settle(chain.envelope('BOOKING_CREATED', link, { iCalUID }));
    return { chain, iCalUID };
  };

  it('creates one conversation per occurrence of a series, and cancels only the named occurrence', async () => {
    const { chain, iCalUID } = await weekly();
    expect(await simulator.booked(chain)).toHaveLength(4);
    await simulator.settle(chain.envelope('BOOKING_CANCELLED', 1, { iCalUID }));
    expect((await simulator.booked(chain)).map(({ start }) => start?.slice(11, 13))).toEqual(['10', '12', '13']);
  });

  it('ignores a booking event that identifies its booking only by the iCalUID of a series', async () => {
    const { chain, iCalUID } = await weekly();
    const before = await simulator.booked(chain);
    const event = chain.envelope('BOOKING_RESCHEDULED', 5, {
      iCalUID,
      uid: undefined,
      rescheduleUid: undefined,
      bookingId: undefined,
    });
    expect(await simulator.settle(event)).toMatchObject({ outcome: 'ambiguous_booking', conversation_id: null });
    expect(await simulator.booked(chain)).toEqual(before);
  });

  it('lists possibly cancelled occurrences of a series in a note for the host when no Cal.com API key is configured', async () => {
    const { chain, iCalUID } = await weekly();
    const noted = (await simulator.personNotes('ada')).filter(({ body }) => body.includes('CALCOM_API_KEY')).length;
    await simulator.settle(
      chain.envelope('BOOKING_CANCELLED', 1, { iCalUID, recurringEvent: { freq: 2, count: 4, interval: 1 } }),
    );
    const note = await waitFor(async () => {
      const found = (await simulator.personNotes('ada')).filter(({ body }) => body.includes('CALCOM_API_KEY'));
      return found.length > noted ? found[0] : undefined;
    });
    const [, second, third] = await simulator.booked(chain);
    expect(note?.body).toMatch(new RegExp(`conversation ${second?.id}\\).*conversation ${third?.id}\\)`));
    expect(note?.body).not.toContain('2030-01-15T10:00:00');
    expect(await simulator.booked(chain)).toHaveLength(3);
  });

  it('keeps two bookings of two installations with the same bookingId separate', async () => {
    const [mine, soleIds] = [createChain(), createChain()];
    const bookingId = 77;
    await simulator.settle(mine.envelope('BOOKING_CREATED', 0, { bookingId, uid: undefined }));
    const other = { person: String(fixture.personId('cleo')) };
    await simulator.settle(
      soleIds.envelope('BOOKING_CREATED', 0, { bookingId, uid: undefined, attendees: [attendee('Zed')] }),
      other,
    );
    const rows = await fixture.env.sql<{ n: number }>(
      `select cardinality(participant_ids) as n from conversations.conversations where config #>> '{booking,booking_id}' = '77' order by id`,
    );
    expect(rows).toEqual([{ n: 2 }, { n: 2 }]);
    const cancelled = mine.envelope('BOOKING_CANCELLED', 0, { bookingId, uid: undefined });
    await simulator.settle(cancelled);
    expect(
      await fixture.env.sql(`select from conversations.conversations where config #>> '{booking,booking_id}' = '77'`),
    ).toHaveLength(1);
  });
});

describe('a late booking event (D80)', () => {
  it('adds only participants to the conversation for a late booking event, and nothing to a cancelled booking', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    const late = chain.envelope('BOOKING_CREATED', 0, { attendees: [attendee('Ben'), attendee('Late')], title: 'Old' });
    expect(await simulator.settle(late)).toMatchObject({ outcome: 'applied' });
    const [conversation] = await simulator.booked(chain);
    expect(conversation).toMatchObject({ start: '2030-01-15T11:00:00Z', config: { booking: { title: 'Intro' } } });
    expect(names(conversation)).toEqual(['Ada', 'Ben', 'Late']);
    await simulator.settle(chain.envelope('BOOKING_CANCELLED', 1));
    expect(await simulator.settle({ ...late, createdAt: '2029-12-31T00:00:00Z' })).toMatchObject({ outcome: 'stale' });
    expect(await simulator.booked(chain)).toEqual([]);
  });

  it('processes booking events with the same time in order of receipt', async () => {
    const chain = createChain();
    const { payload, ...envelope } = chain.envelope('BOOKING_CREATED', 0);
    for (let n = 0; n < 12; n++) {
      const before = await simulator.receiptIds();
      await simulator.deliver({ ...envelope, payload: { ...(payload as object), title: `Title ${n}` } });
      // Webhooks are stored concurrently. The order of receipt is the order in which they are stored.
      await eventually(async () => expect((await simulator.receiptIds()).size).toBeGreaterThan(before.size));
    }
    await eventually(async () =>
      expect(await simulator.booked(chain)).toMatchObject([{ config: { booking: { title: 'Title 11' } } }]),
    );
    const { items } = await fixture.call(conversations.rpcs.listWebhooks, { limit: 12 });
    expect(items.every(({ outcome }) => outcome === 'applied')).toBe(true);
    const worked = items.map(({ processed_at: at }) => at ?? '');
    expect(worked).toEqual(worked.toSorted().toReversed());
  });
});

describe('a cancellation that requests a reschedule (D81)', () => {
  const asked = (chain: Chain) =>
    chain.envelope('BOOKING_CANCELLED', 0, { requestReschedule: true, cancellationReason: 'ill' });

  it('removes the time of the conversation until a cancelled booking is rescheduled', async () => {
    const chain = createChain();
    await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    const [before] = await simulator.booked(chain);
    expect(await simulator.settle(asked(chain))).toMatchObject({ outcome: 'applied', conversation_id: before?.id });
    expect(await simulator.booked(chain)).toMatchObject([{ id: before?.id, start: null, finish: null }]);
    expect((await fixture.notes(before?.id ?? 0))[0]?.body).toMatch(
      /^Another time was asked for: "Intro".* Reason: ill$/,
    );
    expect(await simulator.settle(chain.envelope('BOOKING_CREATED', 0, { title: 'late' }))).toMatchObject({
      outcome: 'stale',
    });
    expect(await simulator.booked(chain)).toMatchObject([{ start: null }]);
    await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    expect(await simulator.booked(chain)).toMatchObject([
      { id: before?.id, start: '2030-01-15T11:00:00Z', finish: '2030-01-15T11:30:00Z' },
    ]);
    expect(await fixture.env.sql('select from conversations.bookings where requested_at is not null')).toEqual([]);
  });

  it('deletes a conversation whose cancelled booking is not rescheduled within thirty days', async () => {
    const [early, late] = [createChain(), createChain()];
    for (const [chain, at] of [
      [early, '2030-01-01T00:00:00Z'],
      [late, '2030-01-11T00:00:00Z'],
    ] as const) {
      await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
      fixture.clock.set(at);
      await simulator.settle(asked(chain));
    }
    fixture.clock.set('2030-02-01T00:00:00Z');
    await eventually(async () => expect(await simulator.booked(early)).toEqual([]));
    expect(await simulator.booked(late)).toHaveLength(1);
    const note = await waitFor(async () =>
      (await simulator.personNotes('ben')).find(({ body }) => body.includes('30 days ago')),
    );
    expect(note?.body).toBe('Booking cancelled: "Intro". Another time was asked for 30 days ago, and none was given.');
    expect(await simulator.settle(early.envelope('BOOKING_RESCHEDULED', 1))).toMatchObject({
      message: 'Conversation created.',
    });
  });
});
