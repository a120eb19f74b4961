import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conversations, type ConversationOut } from '#services/conversations';
import { createBookingDesk, createChain, type BookingDesk } from './booking-desk.ts';
import { createWorld, waitFor, type World } from './world.ts';

let world: World;
let desk: BookingDesk;
beforeAll(async () => {
  world = await createWorld(import.meta.url);
  desk = createBookingDesk(world);
});
afterAll(() => world.stop());

const names = (conversation: ConversationOut | undefined) => conversation?.participants.map((person) => person.name);

describe('BOOKING_CANCELLED (rules/bookings#booking-webhook; D19a)', () => {
  it('notes it on every participant without an author and deletes the conversation', async () => {
    const chain = createChain();
    const before = { ada: (await desk.personNotes('ada')).length, ben: (await desk.personNotes('ben')).length };
    await desk.settle(chain.envelope('BOOKING_CREATED', 0));
    const [conversation] = await desk.booked(chain);
    const receipt = await desk.settle(
      chain.envelope('BOOKING_CANCELLED', 0, { cancellationReason: 'ill', startTime: '2030-01-15T10:00:00+00:00' }),
    );
    expect(receipt).toMatchObject({ outcome: 'applied', conversation_id: conversation?.id });
    expect(await world.refusal(conversations.rpcs.get, { conversation_id: conversation?.id ?? 0 })).toMatchObject({ code: 'not_found' });
    for (const key of ['ada', 'ben'] as const) {
      const note = await waitFor(async () =>
        (await desk.personNotes(key)).length > before[key] ? (await desk.personNotes(key))[0] : undefined,
      );
      expect(note).toMatchObject({ note_type: 'booking', author_person: null, body: expect.stringContaining('ill') });
    }
  });

  it('matches an old uid of the chain too', async () => {
    const chain = createChain();
    await desk.settle(chain.envelope('BOOKING_CREATED', 0));
    await desk.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    const cancelled = { ...chain.envelope('BOOKING_CANCELLED', 0), createdAt: '2030-01-02T00:00:00Z' };
    expect(await desk.settle(cancelled)).toMatchObject({ outcome: 'applied' });
    expect(await desk.booked(chain)).toEqual([]);
  });

  it('waits for the creation that it overtook', async () => {
    const chain = createChain();
    const waiting = await desk.settle(chain.envelope('BOOKING_CANCELLED', 0));
    expect(waiting.outcome).toBe('waiting');
    await desk.settle(chain.envelope('BOOKING_CREATED', 0));
    await waitFor(async () => (await desk.booked(chain)).length === 0);
    expect(await world.call(conversations.rpcs.showReceipt, { id: waiting.id })).toMatchObject({ outcome: 'applied' });
  });

  it('is not undone by a creation that is delivered again', async () => {
    const chain = createChain();
    await desk.settle(chain.envelope('BOOKING_CREATED', 0));
    await desk.settle(chain.envelope('BOOKING_CANCELLED', 0));
    await desk.settle(chain.envelope('BOOKING_CREATED', 0, { title: 'Intro, again' }));
    expect(await desk.booked(chain)).toEqual([]);
  });
});

describe('times that cannot be read (D82)', () => {
  it.each([
    ['BOOKING_CREATED', { startTime: 'soon' }],
    ['BOOKING_RESCHEDULED', { endTime: '' }],
  ])('of %s with %j give a note and no conversation', async (trigger, times) => {
    const chain = createChain();
    const before = (await desk.personNotes('ada')).length;
    expect(await desk.settle(chain.envelope(trigger, 0, times))).toMatchObject({ outcome: 'refused_times', conversation_id: null });
    expect(await desk.booked(chain)).toEqual([]);
    const note = await waitFor(async () =>
      (await desk.personNotes('ada')).length > before ? (await desk.personNotes('ada'))[0] : undefined,
    );
    expect(note).toMatchObject({ note_type: 'booking_error', body: expect.stringContaining('cannot be read as a datetime') });
  });

  it('do not keep a booking from being cancelled; an end before the start is the start', async () => {
    const chain = createChain();
    await desk.settle(chain.envelope('BOOKING_CREATED', 0, { endTime: '2030-01-15T09:00:00Z' }));
    expect(await desk.booked(chain)).toMatchObject([{ start: '2030-01-15T10:00:00Z', finish: '2030-01-15T10:00:00Z' }]);
    await desk.settle(chain.envelope('BOOKING_CANCELLED', 0, { startTime: '', endTime: 'never' }));
    expect(await desk.booked(chain)).toEqual([]);
  });
});

describe('a guest with a phone number alone (D83)', () => {
  it('is stored by it, found by it again, and is the person who has it already', async () => {
    const guest = (phoneNumber: string) => ({ name: 'Fon', email: `${phoneNumber.replaceAll(/\D/g, '')}@SMS.cal.com`, phoneNumber });
    const chains = [createChain(), createChain(), createChain()];
    for (const [index, phone] of ['+49 151 1234567', '0049151-1234567', '+49 (0)151 1234567'].entries())
      await desk.settle(chains[index]?.envelope('BOOKING_CREATED', 0, { attendees: [guest(phone)] }));
    const people = await world.env.sql(`select contact ->> 'phone' as phone from directory.people where name = 'Fon'`);
    expect(people).toEqual([{ phone: '+49 151 1234567' }]);
    const booked = await Promise.all(chains.map(async (chain) => names((await desk.booked(chain))[0])));
    expect(booked).toEqual([
      ['Ada', 'Fon'],
      ['Ada', 'Fon'],
      ['Ada', 'Fon'],
    ]);
  });
});
