/** Endpoint queue, day tables, feed retention, and the start of a recovery (V3, V7, V11). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { createTestEnvironment, startService, type TestEnvironment, waitFor } from '#libs/product/testing';
import * as queue from '../../../services/events/deliveries/statements.ts';
import { findPositionBefore } from '../../../services/events/delivery-log/statements.ts';
import { addDays, measureDays, removeHiddenEvents, removeOldEvents } from '../../../services/events/feed/days.ts';

let env: TestEnvironment;
let db: Database;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'events', poolSize: 3, logger: env.logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await env.stop();
});

describe('queue of endpoints (V7)', () => {
  const insertEndpoint = async (): Promise<number> => {
    const [row] = await env.sql<{ id: number }>(
      `insert into events.webhook_endpoints (account_id, url, description, secret, first_position, position)
       select 1, 'https://example.org/', '', decode(repeat('00', 32), 'hex'), last_position, last_position from events.feed_head returning id`,
    );
    return row?.id ?? 0;
  };
  const acquire = async (): Promise<queue.EndpointLease | undefined> =>
    (await queue.acquireLeases(db, { limit: 10 }))[0];

  it('leases an endpoint to one process at a time, and to another one after the lease expires', async () => {
    const id = await insertEndpoint();
    await queue.scheduleEndpoint(db, { id });
    const first = await acquire();
    expect(first).toEqual({ id, holder: expect.any(String) });
    expect(await acquire()).toBeUndefined();
    await env.sql(
      `update events.webhook_dispatches set held_until = now() - interval '1 second' where endpoint_id = $1`,
      [id],
    );
    const second = await acquire();
    expect(second).toEqual({ id, holder: expect.not.stringMatching(first?.holder ?? '') });
    expect(await queue.readLeased(db, first ?? { id, holder: '' })).toBeUndefined();
    expect(await queue.releaseLease(db, { id, holder: first?.holder ?? '', retryMs: 0 })).toBeUndefined();
    expect(await queue.releaseLease(db, { id, holder: second?.holder ?? '', retryMs: null })).toEqual({
      is_due: false,
    });
    expect(await acquire()).toBeUndefined();
  });

  it('releases an endpoint as due if it was scheduled during the lease or has a due delivery', async () => {
    const id = await insertEndpoint();
    await queue.scheduleEndpoint(db, { id });
    const first = await acquire();
    await queue.scheduleEndpoint(db, { id });
    expect(await queue.releaseLease(db, { id, holder: first?.holder ?? '', retryMs: null })).toEqual({ is_due: true });
    const second = await acquire();
    await env.sql(`insert into events.webhook_deliveries (endpoint_id, occurred_at) values ($1, now())`, [id]);
    expect(await queue.releaseLease(db, { id, holder: second?.holder ?? '', retryMs: null })).toEqual({ is_due: true });
    await env.sql('update events.webhook_endpoints set deleted_at = now() where id = $1', [id]);
    expect(await acquire()).toBeUndefined();
  });

  it('leases an endpoint only after the transaction that scheduled it commits', async () => {
    const id = await insertEndpoint();
    await queue.scheduleEndpoint(db, { id });
    await db.transaction(async (tx) => {
      await queue.scheduleEndpoint(tx, { id });
      expect(await acquire()).toBeUndefined();
    });
    expect(await acquire()).toMatchObject({ id });
  });
});

const dayMs = 86_400_000;
/** Returns midnight of the day `days` after today. */
const midnight = (days: number): string =>
  `${new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)}T00:00:00Z`;

/** Runs `work` while a transaction holds the locks of the statements. */
async function whileLocked(statements: readonly string[], work: () => Promise<void>): Promise<void> {
  await db.transaction(async (tx) => {
    for (const text of statements) await tx.query({ name: `lock ${text}`.slice(0, 60), text }, []);
    await work();
  });
}

const eventAt = (instant: string, number: number): string =>
  `insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
   values (${number}, '${instant}', 'test', ${number}, gen_random_uuid(), 'holon.updated', 'holon', 1, '{}', false)`;

async function readDaysAhead(): Promise<string> {
  const metrics = createMetrics('events');
  measureDays({ db, metrics });
  return (await metrics.render()).text.match(/^coherence_feed_days_ahead\b.* (\d+)$/m)?.[1] ?? '';
}

describe('day tables of the feed (V2, V3)', () => {
  it('adds day tables for the next week while events are written and read', async () => {
    expect(await readDaysAhead()).toBe('2');
    await whileLocked([eventAt(midnight(0), 9_001), `select count(*) from only events.feed`], async () => {
      await addDays({ db, logger: env.logger });
    });
    expect(await readDaysAhead()).toBe('7');
    await env.sql(eventAt(midnight(7), 9_002));
    expect(await env.sql('select tableoid::regclass::text as name from events.feed where number = 9002')).toEqual([
      { name: `events.feed_${midnight(7).slice(0, 10).replaceAll('-', '')}` },
    ]);
  });

  it('adds a day table with the same indexes and keys as the feed', async () => {
    const parts = await env.sql<{ inherited: number; own: number }>(
      `select count(i.inhparent)::integer as inherited, count(*)::integer as own from pg_index x left join pg_inherits i on i.inhrelid = x.indexrelid
       where x.indrelid = to_regclass('events.feed_${midnight(7).slice(0, 10).replaceAll('-', '')}')`,
    );
    expect(parts).toEqual([{ inherited: 4, own: 4 }]);
  });

  it('attaches a day table without scanning the default partition', async () => {
    await env.sql(`drop table events.feed_${midnight(6).slice(0, 10).replaceAll('-', '')}`);
    await env.sql(eventAt(midnight(-20), 9_003));
    await addDays({ db, logger: env.logger });
    expect(await readDaysAhead()).toBe('7');
    expect(
      await env.sql(
        `select conname from pg_constraint where conrelid = 'events.feed_other'::regclass and contype = 'c'`,
      ),
    ).toEqual([]);
  });

  it('removes old events from day tables and the default partition', async () => {
    await env.sql(`select events.add_feed_day($1)`, [midnight(-40).slice(0, 10)]);
    await env.sql(eventAt(midnight(-40), 9_004));
    await removeOldEvents({ db, config: { EVENTS_RETENTION_DAYS: 10 } });
    expect(
      await env.sql('select number::integer as number from events.feed where number > 9000 order by number'),
    ).toEqual([{ number: 9_001 }, { number: 9_002 }]);
    expect(await env.sql('select floor_position::integer as floor from events.feed_head')).toEqual([{ floor: 9_004 }]);
    await env.sql('delete from events.feed');
    await env.sql('update events.feed_head set floor_position = 0');
  });

  it('logs day table changes that readers block, without delaying readers or the start of the service', async () => {
    const late = midnight(5).slice(0, 10).replaceAll('-', '');
    await env.sql(`drop table events.feed_${late}`);
    await env.sql(`select events.add_feed_day($1)`, [midnight(-40).slice(0, 10)]);
    const lines: string[] = [];
    const logger = createLogger({
      service: 'events',
      level: 'warn',
      destination: { write: (line) => void lines.push(line) },
    });
    await whileLocked(['select count(*) from events.feed'], async () => {
      const service = await startService('events', env, {}, { logger });
      await waitFor(() => lines.some((line) => line.includes('adding day tables failed')), { what: 'the failed day' });
      await waitFor(() => lines.some((line) => line.includes('removing old events failed')), {
        what: 'the failed drop',
      });
      // The waiting table creation does not block readers.
      expect(await env.sql('select count(*)::integer as n from events.feed')).toEqual([{ n: 0 }]);
      await env.sql(eventAt(midnight(5), 9_005));
      await service.stop();
    });
    expect(await readDaysAhead()).toBe('4');
    expect(await env.sql('select tableoid::regclass::text as name from events.feed where number = 9005')).toEqual([
      { name: 'events.feed_other' },
    ]);
    await env.sql('delete from events.feed');
    await addDays({ db, logger: env.logger });
    await removeHiddenEvents(db, midnight(-30));
    expect(await readDaysAhead()).toBe('7');
    expect(
      await env.sql(`select to_regclass('events.feed_${midnight(-40).slice(0, 10).replaceAll('-', '')}') as day`),
    ).toEqual([{ day: null }]);
  });
});

describe('subjects without events in the feed (V3)', () => {
  it('removes 25,000 subjects without events in one run', async () => {
    await env.sql(
      `insert into events.subjects (type, id, known, holons, people, gone, last_position)
       select 'conversation', n, true, '{}', '{}', false, case when n <= 25000 then 0 else 7 end from generate_series(1, 25100) n`,
    );
    await startService('events', env);
    const count = async (): Promise<unknown> =>
      (await env.sql('select count(*)::integer n from events.subjects'))[0]?.['n'];
    await waitFor(async () => (await count()) === 100, { what: 'the removal of 25,000 subjects' });
  });
});

describe('findPositionBefore (V11)', () => {
  it('returns a position before events that were published late from an outbox', async () => {
    // The outbox of one service was delayed: its 1,500 events of two hours ago follow newer events of another service.
    await env.sql(
      `insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
       select n, now() - case when n <= 500 then interval '1 hour' else interval '2 hours' end + n * interval '1 millisecond',
         case when n <= 500 then 'conversations' else 'directory' end, n, gen_random_uuid(), 'holon.updated', 'holon', 1, '{}', false
       from generate_series(1, 2000) n`,
    );
    const at = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    expect(await findPositionBefore(db, { since: at(3) })).toEqual({ position: 0 });
    expect(await findPositionBefore(db, { since: at(1.5) })).toEqual({ position: 0 });
    expect(await findPositionBefore(db, { since: at(0.5) })).toEqual({ position: null });
  });
});
