import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conversations } from '#services/conversations';
import { attendee, createBookingDesk, createChain, eventually, type BookingDesk } from './booking-desk.ts';
import { createWorld, waitFor, type World } from './world.ts';

let world: World;
let desk: BookingDesk;
beforeAll(async () => {
  world = await createWorld(import.meta.url);
  desk = createBookingDesk(world);
});
afterAll(() => world.stop());

describe('webhook receipts (D20, D33d)', () => {
  it('stores a repeated request once and applies it once', async () => {
    const chain = createChain();
    const receipt = await desk.settle(chain.envelope('BOOKING_CREATED', 0));
    await desk.deliver(chain.envelope('BOOKING_CREATED', 0));
    await waitFor(async () => (await world.call(conversations.rpcs.showReceipt, { id: receipt.id })).deliveries === 2);
    const [conversation, ...others] = await desk.booked(chain);
    expect(others).toEqual([]);
    expect(await world.notes(conversation?.id ?? 0)).toHaveLength(1);
  });

  it.each([
    ['a test ping', { triggerEvent: 'PING', payload: { type: 'Test', title: 'Test' } }, 'ignored'],
    ['an event that is not acted on', { triggerEvent: 'BOOKING_PAID', payload: {} }, 'ignored'],
    ['no triggerEvent', { payload: {} }, 'ignored'],
    ['no identifier', { triggerEvent: 'BOOKING_CREATED', payload: { title: 'x', uid: '', bookingId: null } }, 'rejected_unidentified'],
  ])('keeps %s with its outcome', async (_what, envelope, outcome) => {
    expect(await desk.settle({ ...envelope, marker: randomUUID() })).toMatchObject({ outcome });
  });

  it.each([
    ['no JSON', '{"triggerEvent":'],
    ['no object', '["BOOKING_CREATED"]'],
    ['U+0000', '{"triggerEvent":"BOOKING_CREATED","payload":{"uid":"a\\u0000"}}'],
    ['too deep', `{"triggerEvent":"BOOKING_CREATED","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['nothing', ''],
  ])('keeps no body of an unreadable request: %s', async (_what, body) => {
    const receipt = await desk.settle(undefined, { body, person: `${world.personId('ada')}` });
    expect(receipt.outcome).toBe('rejected_unreadable');
    expect(await world.call(conversations.rpcs.showReceipt, { id: receipt.id })).toMatchObject({ body: null });
    expect(await world.refusal(conversations.rpcs.replayReceipt, { id: receipt.id })).toMatchObject({ reason: 'receipt_without_body' });
  });

  it('tells a body over the cap by its missing body', async () => {
    expect(await desk.settle(undefined, { body: null })).toMatchObject({ outcome: 'rejected_too_large' });
  });

  it.each(['999999', 'abc', '0', '-1', '99999999999999999999', '../1', ''])('has no effect for the path person "%s"', async (person) => {
    const chain = createChain();
    expect(await desk.settle(chain.envelope('BOOKING_CREATED', 0), { person })).toMatchObject({
      outcome: 'person_not_found',
      person_id: person,
    });
    expect(await desk.booked(chain)).toEqual([]);
  });

  it('is replayed: what could not be done then is done now, and nothing twice', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0, { metadata: { videoCallUrl: 'https://meet.example.org/later-journey' } });
    const receipt = await desk.settle(envelope);
    expect(receipt.outcome).toBe('journey_error');
    await world.apply({
      journeys: [{ slug: 'later-journey', name: 'Later', svc_app: 'coherence', object_kind: 'holon', is_conversation: true, steps: [] }],
    });
    await world.call(conversations.rpcs.replayReceipt, { id: receipt.id });
    await waitFor(async () => (await desk.booked(chain)).length === 1);
    await world.call(conversations.rpcs.replayReceipt, { id: receipt.id });
    await waitFor(async () => (await world.call(conversations.rpcs.showReceipt, { id: receipt.id })).message === 'Nothing to change.');
    const [conversation, ...others] = await desk.booked(chain);
    expect(others).toEqual([]);
    expect(await world.notes(conversation?.id ?? 0)).toHaveLength(1);
  });

  it('answers 404 for a receipt that does not exist', async () => {
    expect(await world.refusal(conversations.rpcs.showReceipt, { id: 999_999 })).toMatchObject({ code: 'not_found' });
    expect(await world.refusal(conversations.rpcs.replayReceipt, { id: 999_999 })).toMatchObject({ code: 'not_found' });
  });
});

describe('X-Cal-Signature-256 (D19; a service with a secret)', () => {
  let signed: World;
  let counter: BookingDesk;
  beforeAll(async () => {
    signed = await createWorld(import.meta.url, { BOOKING_WEBHOOK_SECRET: 'secret', BOOKING_CREATE_ATTENDEES: 'false' });
    counter = createBookingDesk(signed);
  });
  afterAll(() => signed.stop());

  it('takes a body that is signed, refuses others, and takes the same body when it comes well signed', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0);
    const signature = createHmac('sha256', 'secret').update(JSON.stringify(envelope)).digest('hex');
    const forged = signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    for (const headers of [{}, { 'x-cal-signature-256': 'no-secret-provided' }, { 'x-cal-signature-256': forged }]) {
      await counter.deliver(envelope, { headers });
    }
    await eventually(async () => {
      const { items } = await signed.call(conversations.rpcs.listReceipts, { outcome: 'rejected_signature' });
      expect(items).toMatchObject([{ deliveries: 3, conversation_id: null }]);
    });
    expect(await counter.booked(chain)).toEqual([]);
    expect(await counter.settle(envelope, { headers: { 'x-cal-signature-256': signature } })).toMatchObject({ outcome: 'applied' });
    expect(await counter.booked(chain)).toHaveLength(1);
  });

  it('leaves unknown attendees out when the setting says so', async () => {
    const chain = createChain();
    const envelope = chain.envelope('BOOKING_CREATED', 0, { attendees: [attendee('Ben'), attendee('Stranger')] });
    const signature = createHmac('sha256', 'secret').update(JSON.stringify(envelope)).digest('hex');
    await counter.settle(envelope, { headers: { 'x-cal-signature-256': signature } });
    const [conversation] = await counter.booked(chain);
    expect(conversation?.participants.map((person) => person.name)).toEqual(['Ada', 'Ben']);
  });
});

describe('conversations.bookings.hint (spec 01, Booking webhook; D19a)', () => {
  it.each([1, 0, -5, 999_999])('answers plain text for id %d', async (id) => {
    const reply = await world.bus.callRaw(conversations.rpcs.bookingHint, { person_id: id }, { requestId: 'test' });
    expect(reply.kind === 'bytes' && Buffer.from(reply.bytes).toString()).toMatch(/webhook/i);
  });
});
