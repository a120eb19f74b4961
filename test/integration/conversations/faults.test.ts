import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startService, startTcpProxy, type TcpProxy, waitForLockWait } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { holdLocks } from '../../hold-locks.ts';
import { createBookingSimulator, createChain, eventually, type BookingSimulator } from './booking-simulator.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
let simulator: BookingSimulator;
let database: TcpProxy;
let broker: TcpProxy;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url, async ({ settings }) => {
    database = await startTcpProxy(settings['DATABASE_URL'] ?? '');
    broker = await startTcpProxy(settings['NATS_URL'] ?? '');
    return { DATABASE_URL: database.url, NATS_URL: broker.url };
  });
  simulator = createBookingSimulator(fixture);
});
afterEach(() => {
  database.restore();
  broker.restore();
});
afterAll(async () => {
  await fixture.stop();
  await database.stop();
  await broker.stop();
});

const untilReady = (id: number) => waitFor(() => fixture.get(id));
const recordedNotes = async (id: number) => (await fixture.notes(id)).filter((note) => note.note_type === 'recorded');

/** Locks the row of a conversation while `work` runs, so that writers wait. */
async function whileLocked(id: number, work: () => Promise<void>): Promise<void> {
  const letGo = await holdLocks(fixture.env, 'select from conversations.conversations where id = $1 for update', [id]);
  await work();
  expect(await letGo()).toBe('stopped');
}

describe('PostgreSQL is down (rules/http#overload)', () => {
  it('returns unavailable for reads and writes while PostgreSQL is down, and recovers', async () => {
    const { id } = await fixture.create();
    database.cut();
    expect(await fixture.refusal(conversations.rpcs.get, { conversation_id: id })).toMatchObject({
      code: 'unavailable',
    });
    expect(await fixture.refusal(conversations.rpcs.patch, { conversation_id: id, infos: { a: 1 } })).toMatchObject({
      code: 'unavailable',
    });
    expect(
      await fixture.refusal(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: 'k', write: {} }),
    ).toMatchObject({
      code: 'unavailable',
    });
    database.restore();
    expect(await untilReady(id)).toMatchObject({ infos: {}, step_slug: 'held' });
    expect(await fixture.recorded(id, {}, 'k')).toMatchObject({ step_slug: 'import' });
  });

  it('adds one step and one note when connections break during repeated /recorded calls with one key', async () => {
    const { id } = await fixture.create();
    const calls = Array.from({ length: 20 }, () => waitFor(() => fixture.recorded(id, { infos: { a: 1 } }, 'k')));
    for (let round = 0; round < 5; round++) {
      database.breakConnections();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const replies = await Promise.all(calls);
    expect(new Set(replies.map((reply) => reply.step_slug))).toEqual(new Set(['import']));
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('writes nothing for a /recorded call whose connection breaks before the commit', async () => {
    const { id } = await fixture.create();
    const before = await fixture.get(id);
    let call: Promise<unknown> = Promise.resolve();
    await whileLocked(id, async () => {
      call = fixture.recorded(id, {}, 'k').catch((error: unknown) => error);
      await waitForLockWait(fixture.env.sql);
      database.breakConnections();
      expect(await call).toMatchObject({ code: 'unavailable' });
    });
    expect(await untilReady(id)).toEqual(before);
    expect(await recordedNotes(id)).toEqual([]);
  });

  it('stores webhooks received while PostgreSQL is down, and applies each once', async () => {
    const chain = createChain();
    database.cut();
    await simulator.deliver(chain.envelope('BOOKING_CREATED', 0));
    await simulator.deliver(chain.envelope('BOOKING_RESCHEDULED', 1));
    database.restore();
    await eventually(async () =>
      expect(await simulator.booked(chain)).toMatchObject([{ start: '2030-01-15T11:00:00Z' }]),
    );
  });
});

describe('NATS is down (architecture#jobs: the row in PostgreSQL is the truth)', () => {
  it('publishes the job of a step entered while NATS is down, once', async () => {
    const { id } = await fixture.create();
    await whileLocked(id, async () => {
      void fixture.recorded(id, {}, 'k').catch(() => undefined);
      await waitForLockWait(fixture.env.sql);
      broker.cut();
    });
    await eventually(async () => {
      expect(
        await fixture.env.sql('select step_id from conversations.pipeline_entries where conversation_id = $1', [id]),
      ).toHaveLength(1);
    });
    broker.restore();
    const retried = await waitFor(() => fixture.recorded(id, {}, 'k'));
    expect(retried.step_slug).toBe('import');
    await waitFor(() => fixture.importsOf(id).length > 0);
    expect(new Set(fixture.importsOf(id).map((job) => job.cause))).toEqual(new Set(['step_entered']));
    expect(await recordedNotes(id)).toHaveLength(1);
  });

  it('processes webhooks that were stored while the service was disconnected from NATS', async () => {
    const chain = createChain();
    broker.cut();
    await simulator.deliver(chain.envelope('BOOKING_CREATED', 0));
    broker.restore();
    await eventually(async () => expect(await simulator.booked(chain)).toHaveLength(1));
  });

  it('reloads directory data after a reconnect to NATS, because events may have been missed', async () => {
    const { id, participants } = await fixture.create('plain', 'cleo');
    expect(participants[0]?.name).toBe('Cleo');
    broker.cut();
    await fixture.apply({ people: [{ key: 'cleo', name: 'Cleopatra', contact: {}, actor_kind: 'human' }] });
    broker.restore();
    expect((await untilReady(id)).participants[0]?.name).toBe('Cleopatra');
  });
});

describe('the directory is down (rules/http#overload)', () => {
  it('returns unavailable for calls that need the directory, and processes bookings after its recovery', async () => {
    const { id } = await fixture.create();
    await fixture.stopDirectory();
    const request = { person_id: 123_456, journey: 'open-circle', time: '2030-01-01T00:00:00Z' };
    expect(await fixture.refusal(conversations.rpcs.findActive, request)).toMatchObject({ code: 'unavailable' });
    expect(await fixture.get(id)).toMatchObject({ step_slug: 'held' }); // cached
    const chain = createChain();
    await simulator.deliver(chain.envelope('BOOKING_CREATED', 0));
    await waitFor(
      async () =>
        (await fixture.call(conversations.rpcs.listWebhooks, { outcome: 'pending', limit: 10 })).items.length >= 1,
    );
    await startService('directory', fixture.env);
    await eventually(async () =>
      expect(await simulator.booked(chain)).toMatchObject([{ journey_slug: 'open-circle' }]),
    );
    await eventually(async () =>
      expect((await fixture.call(conversations.rpcs.listWebhooks, { outcome: 'pending', limit: 10 })).items).toEqual(
        [],
      ),
    );
  });
});
