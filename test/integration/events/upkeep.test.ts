/** The queue of endpoints, what the feed no longer keeps, and where it is read again from (V3, V7, V11). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/logger';
import { createDatabase, type Database } from '#libs/orm';
import { createMetrics } from '#libs/telemetry';
import { createTestEnvironment, startService, type TestEnvironment, waitFor } from '#libs/testing';
import * as queue from '../../../services/events/deliveries/statements.ts';
import { findPositionBefore } from '../../../services/events/delivery-log/statements.ts';
import { addDays, dropEnded, endDays, measureDays } from '../../../services/events/feed/days.ts';

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

describe('the queue of endpoints (V7)', () => {
  const insertEndpoint = async (): Promise<number> => {
    const [row] = await env.sql<{ id: number }>(
      `insert into events.webhook_endpoints (account_id, url, description, secret, first_position, position)
       select 1, 'https://example.org/', '', decode(repeat('00', 32), 'hex'), last_position, last_position from events.feed_head returning id`,
    );
    return row?.id ?? 0;
  };
  const acquire = async (): Promise<queue.EndpointLease | undefined> => (await queue.acquireLeases(db, { limit: 10 }))[0];

  it('gives an endpoint to one holder at a time, and to another one when the lease has ended', async () => {
    const id = await insertEndpoint();
    await queue.scheduleEndpoint(db, { id });
    const first = await acquire();
    expect(first).toEqual({ id, holder: expect.any(String) });
    expect(await acquire()).toBeUndefined();
    await env.sql(`update events.webhook_dispatches set held_until = now() - interval '1 second' where endpoint_id = $1`, [id]);
    const second = await acquire();
    expect(second).toEqual({ id, holder: expect.not.stringMatching(first?.holder ?? '') });
    expect(await queue.readLeased(db, first ?? { id, holder: '' })).toBeUndefined();
    expect(await queue.releaseLease(db, { id, holder: first?.holder ?? '', retryMs: 0 })).toBeUndefined();
    expect(await queue.releaseLease(db, { id, holder: second?.holder ?? '', retryMs: null })).toEqual({ is_due: false });
    expect(await acquire()).toBeUndefined();
  });

  it('has an endpoint again that was scheduled during its lease, or whose delivery is due', async () => {
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

  it('does not give a due endpoint away before what is to be sent has committed', async () => {
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
/** Midnight of a day, counted from today. */
const midnight = (days: number): string => `${new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)}T00:00:00Z`;

/** Runs `work` while a transaction has the locks of these statements. */
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

describe('the days of the feed (V2, V3)', () => {
  it('are added a week ahead while events are written and read', async () => {
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

  it('have the indexes and keys of the feed', async () => {
    const parts = await env.sql<{ inherited: number; own: number }>(
      `select count(i.inhparent)::integer as inherited, count(*)::integer as own from pg_index x left join pg_inherits i on i.inhrelid = x.indexrelid
       where x.indrelid = to_regclass('events.feed_${midnight(7).slice(0, 10).replaceAll('-', '')}')`,
    );
    expect(parts).toEqual([{ inherited: 4, own: 4 }]);
  });

  it('are attached without reading the default partition again', async () => {
    await env.sql(`drop table events.feed_${midnight(6).slice(0, 10).replaceAll('-', '')}`);
    await env.sql(eventAt(midnight(-20), 9_003));
    await addDays({ db, logger: env.logger });
    expect(await readDaysAhead()).toBe('7');
    expect(await env.sql(`select conname from pg_constraint where conrelid = 'events.feed_other'::regclass and contype = 'c'`)).toEqual([]);
  });

  it('go after the retention, those of the default partition too', async () => {
    await env.sql(`select events.add_feed_day($1)`, [midnight(-40).slice(0, 10)]);
    await env.sql(eventAt(midnight(-40), 9_004));
    await endDays({ db, retentionDays: 10 });
    expect(await env.sql('select number::integer as number from events.feed where number > 9000 order by number')).toEqual([
      { number: 9_001 },
      { number: 9_002 },
    ]);
    expect(await env.sql('select floor_position::integer as floor from events.feed_head')).toEqual([{ floor: 9_004 }]);
    await env.sql('delete from events.feed');
    await env.sql('update events.feed_head set floor_position = 0');
  });

  it('that cannot be added or dropped because of a long reader block neither others nor the start, and are logged', async () => {
    const late = midnight(5).slice(0, 10).replaceAll('-', '');
    await env.sql(`drop table events.feed_${late}`);
    await env.sql(`select events.add_feed_day($1)`, [midnight(-40).slice(0, 10)]);
    const lines: string[] = [];
    const logger = createLogger({ service: 'events', level: 'warn', destination: { write: (line) => void lines.push(line) } });
    await whileLocked(['select count(*) from events.feed'], async () => {
      const service = await startService('events', env, {}, { logger });
      await waitFor(() => lines.some((line) => line.includes('adding the tables of the coming days failed')), { what: 'the failed day' });
      await waitFor(() => lines.some((line) => line.includes('removing ended events failed')), { what: 'the failed drop' });
      // Nothing waits behind it.
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
    await dropEnded(db, midnight(-30));
    expect(await readDaysAhead()).toBe('7');
    expect(await env.sql(`select to_regclass('events.feed_${midnight(-40).slice(0, 10).replaceAll('-', '')}') as day`)).toEqual([
      { day: null },
    ]);
  });
});

describe('subjects of which no event is kept (V3)', () => {
  it('go all at once, however many there are', async () => {
    await env.sql(
      `insert into events.subjects (type, id, known, holons, people, gone, last_position)
       select 'conversation', n, true, '{}', '{}', false, case when n <= 25000 then 0 else 7 end from generate_series(1, 25100) n`,
    );
    // Which it does once it has started, and then each hour: in one go, not some an hour.
    await startService('events', env);
    const count = async (): Promise<unknown> => (await env.sql('select count(*)::integer n from events.subjects'))[0]?.['n'];
    await waitFor(async () => (await count()) === 100, { what: 'all but 100 to go' });
  });
});

describe('the position before what happened since a time (V11)', () => {
  it('is before what others told while an outbox could not be sent', async () => {
    // Of one service nothing came for two hours: 1,500 events of then stand behind what another told an hour later.
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
