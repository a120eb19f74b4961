import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startService, startTcpProxy, type TcpProxy, waitForLockWait } from '#libs/testing';
import { conversations } from '#services/conversations';
import { holdLocks } from '../../hold-locks.ts';
import { createBookingDesk, createChain, eventually, type BookingDesk } from './booking-desk.ts';
import { createWorld, waitFor, type World } from './world.ts';

let world: World;
let desk: BookingDesk;
let database: TcpProxy;
let broker: TcpProxy;
beforeAll(async () => {
  world = await createWorld(import.meta.url, async ({ settings }) => {
    database = await startTcpProxy(settings['DATABASE_URL'] ?? '');
    broker = await startTcpProxy(settings['NATS_URL'] ?? '');
    return { DATABASE_URL: database.url, NATS_URL: broker.url };
  });
  desk = createBookingDesk(world);
});
afterEach(() => {
  database.restore();
  broker.restore();
});
afterAll(async () => {
  await world.stop();
  await database.stop();
  await broker.stop();
});

const untilReady = (id: number) => waitFor(() => world.get(id));
const recordedNotes = async (id: number) => (await world.notes(id)).filter((note) => note.note_type === 'recorded');

/** Holds the row of a conversation while `work` runs, so that writers wait for it. */
async function whileLocked(id: number, work: () => Promise<void>): Promise<void> {
  const letGo = await holdLocks(world.env, 'select from conversations.conversations where id = $1 for update', [id]);
  await work();
  expect(await letGo()).toBe('stopped');
}

describe('PostgreSQL goes away (rules/http#overload)', () => {
  it('answers unavailable to reads and writes, and works again when it is back', async () => {
    const { id } = await world.create();
    database.cut();
    expect(await world.refusal(conversations.rpcs.get, { conversation_id: id })).toMatchObject({ code: 'unavailable' });
    expect(await world.refusal(conversations.rpcs.patch, { conversation_id: id, infos: { a: 1 } })).toMatchObject({ code: 'unavailable' });
    expect(await world.refusal(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: 'k', write: {} })).toMatchObject({
      code: 'unavailable',
    });
    database.restore();
    expect(await untilReady(id)).toMatchObject({ infos: {}, step_slug: 'held' });
    expect(await world.recorded(id, {}, 'k')).toMatchObject({ step_slug: 'import' });
  });

  it('makes one step and one note when connections break under repeated calls with one key', async () => {
    const { id } = await world.create();
    const calls = Array.from({ length: 20 }, () => waitFor(() => world.recorded(id, { infos: { a: 1 } }, 'k')));
    for (let round = 0; round < 5; round++) {
      database.breakConnections();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const replies = await Promise.all(calls);
    expect(new Set(replies.map((reply) => reply.step_slug))).toEqual(new Set(['import']));
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('writes nothing of a /recorded whose connection breaks before the commit', async () => {
    const { id } = await world.create();
    const before = await world.get(id);
    let call: Promise<unknown> = Promise.resolve();
    await whileLocked(id, async () => {
      call = world.recorded(id, {}, 'k').catch((error: unknown) => error);
      await waitForLockWait(world.env.sql);
      database.breakConnections();
      expect(await call).toMatchObject({ code: 'unavailable' });
    });
    expect(await untilReady(id)).toEqual(before);
    expect(await recordedNotes(id)).toEqual([]);
  });

  it('keeps webhooks that came meanwhile and applies each once', async () => {
    const chain = createChain();
    database.cut();
    await desk.deliver(chain.envelope('BOOKING_CREATED', 0));
    await desk.deliver(chain.envelope('BOOKING_RESCHEDULED', 1));
    database.restore();
    await eventually(async () => expect(await desk.booked(chain)).toMatchObject([{ start: '2030-01-15T11:00:00Z' }]));
  });
});

describe('NATS goes away (architecture#jobs: the row in PostgreSQL is the truth)', () => {
  it('hands over the job of a step that was entered while the broker was away, once', async () => {
    const { id } = await world.create();
    await whileLocked(id, async () => {
      void world.recorded(id, {}, 'k').catch(() => undefined);
      await waitForLockWait(world.env.sql);
      broker.cut();
    });
    await eventually(async () => {
      expect(await world.env.sql('select step_id from conversations.pipeline_entries where conversation_id = $1', [id])).toHaveLength(1);
    });
    broker.restore();
    const retried = await waitFor(() => world.recorded(id, {}, 'k'));
    expect(retried.step_slug).toBe('import');
    await waitFor(() => world.importsOf(id).length > 0);
    expect(new Set(world.importsOf(id).map((job) => job.cause))).toEqual(new Set(['step_entered']));
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('works webhooks that were stored while the service could not hear of them', async () => {
    const chain = createChain();
    broker.cut();
    await desk.deliver(chain.envelope('BOOKING_CREATED', 0));
    broker.restore();
    await eventually(async () => expect(await desk.booked(chain)).toHaveLength(1));
  });

  it('asks the directory anew after a reconnection, since change events may have been missed', async () => {
    const { id, participants } = await world.create('plain', 'cleo');
    expect(participants[0]?.name).toBe('Cleo');
    broker.cut();
    await world.apply({ people: [{ key: 'cleo', name: 'Cleopatra', contact: {}, actor_kind: 'human' }] });
    broker.restore();
    expect((await untilReady(id)).participants[0]?.name).toBe('Cleopatra');
  });
});

describe('the directory goes away (rules/http#overload)', () => {
  it('answers unavailable where it must be asked, and works bookings when it is back', async () => {
    const { id } = await world.create();
    await world.stopDirectory();
    const request = { person_id: 123_456, journey: 'open-circle', time: '2030-01-01T00:00:00Z' };
    expect(await world.refusal(conversations.rpcs.findActive, request)).toMatchObject({ code: 'unavailable' });
    expect(await world.get(id)).toMatchObject({ step_slug: 'held' }); // cached
    const chain = createChain();
    await desk.deliver(chain.envelope('BOOKING_CREATED', 0));
    await waitFor(async () => (await world.call(conversations.rpcs.listReceipts, { outcome: 'pending' })).items.length >= 1);
    await startService('directory', world.env);
    await eventually(async () => expect(await desk.booked(chain)).toMatchObject([{ journey_slug: 'open-circle' }]));
    await eventually(async () => expect((await world.call(conversations.rpcs.listReceipts, { outcome: 'pending' })).items).toEqual([]));
  });
});
