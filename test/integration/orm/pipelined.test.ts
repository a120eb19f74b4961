import { setImmediate as turnEnd } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database, sqlStateOf } from '#libs/infrastructure/orm';
import type { PreparedStatement } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

const readNumber: PreparedStatement = {
  name: 'pipelined.number',
  text: 'select pg_backend_pid() as pid, $1::int as n',
  pipelined: true,
};
const divide: PreparedStatement = { name: 'pipelined.divide', text: 'select 1 / $1::int as n', pipelined: true };
const readSlowly: PreparedStatement = {
  name: 'pipelined.slowly',
  text: `select pg_backend_pid() as pid, $1::int as n, pg_sleep(0.5)::text as slept`,
  pipelined: true,
};
const cutOthers: PreparedStatement = {
  name: 'pipelined.cut-others',
  text: `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid() and state = 'active'`,
};

interface Row {
  pid: number;
  n: number;
}

describe('pipelined statements (architecture#data)', () => {
  let env: TestEnvironment;
  let db: Database;
  let one: Database;
  const count = (length: number): number[] => Array.from({ length }, (_, index) => index);
  const readAll = async (items: number[]): Promise<Row[]> =>
    (await Promise.all(items.map((n) => db.query<Row>(readNumber, [n])))).flatMap((rows) => rows);

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    const options = { url: env.settings['DATABASE_URL'] ?? '', schema: 'public', logger: env.logger };
    db = await createDatabase({ ...options, poolSize: 5, applicationName: 'pipelined test' });
    one = await createDatabase({ ...options, poolSize: 1, applicationName: 'pipelined single' });
  });
  afterAll(async () => {
    await Promise.all([db.close(), one.close()]);
    await env.stop();
  });

  it('runs the statements of one event loop turn on one connection, returns each result to its call, and releases the connection', async () => {
    const rows = await readAll(count(10));
    expect(rows.map(({ n }) => n)).toEqual(count(10));
    expect(new Set(rows.map(({ pid }) => pid)).size).toBe(1);
    expect(db.stats()).toMatchObject({ total: 1, idle: 1, waiting: 0 });
  });

  it('uses one connection for each sixteen pipelined statements', async () => {
    const rows = await readAll(count(40));
    expect(rows.map(({ n }) => n)).toEqual(count(40));
    expect(new Set(rows.map(({ pid }) => pid)).size).toBe(3);
    expect(db.stats()).toMatchObject({ total: 3, idle: 3, waiting: 0 });
  });

  it('a pipelined statement fails without affecting the others', async () => {
    const results = await Promise.allSettled([db.query(divide, [1]), db.query(divide, [0]), db.query(readNumber, [3])]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sqlStateOf((results[1] as PromiseRejectedResult).reason)).toBe('22012');
    expect(db.stats()).toMatchObject({ waiting: 0, idle: db.stats().total });
  });

  it('runs statements of a later event loop turn without waiting for an earlier slow one', async () => {
    const slow = db.query<Row>(readSlowly, [1]).then(() => 'slow');
    await turnEnd();
    await turnEnd();
    await expect(Promise.race([slow, db.query<Row>(readNumber, [2]).then(() => 'quick')])).resolves.toBe('quick');
    await slow;
  });

  it('retries pipelined statements when their connection is cut', async () => {
    const reads = count(3).map((n) => db.query<Row>(readSlowly, [n]));
    let cut = 0;
    while (cut === 0) cut = (await one.query(cutOthers, ['pipelined test'])).length;
    expect((await Promise.all(reads)).flatMap((rows) => rows.map(({ n }) => n))).toEqual(count(3));
    expect(db.stats()).toMatchObject({ waiting: 0, idle: db.stats().total });
  });

  it('requests one connection for all waiting pipelined statements when all connections are in use', async () => {
    const reads: Promise<Row[]>[] = [];
    await one.transaction(async (tx) => {
      await tx.query(readNumber, [0]);
      for (const n of count(3)) {
        reads.push(one.query<Row>(readNumber, [n]));
        await turnEnd();
      }
      expect(one.stats().waiting).toBe(1);
    });
    expect((await Promise.all(reads)).flatMap((rows) => rows.map(({ n }) => n))).toEqual(count(3));
    expect(one.stats()).toMatchObject({ total: 1, idle: 1, waiting: 0 });
  });
});
