import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conversations } from '#services/conversations';
import { createBookingDesk, createChain, type BookingDesk } from './booking-desk.ts';
import { createWorld, waitFor, type World } from './world.ts';

let world: World;
let desk: BookingDesk;
beforeAll(async () => {
  world = await createWorld(import.meta.url);
  desk = createBookingDesk(world);
});
afterAll(() => world.stop());

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
