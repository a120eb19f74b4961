/** The cost of lost connections: none while a connection is idle, otherwise the running statement. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import {
  createTestEnvironment,
  startTcpProxy,
  type TcpProxy,
  type TestEnvironment,
  waitFor,
} from '#libs/product/testing';

const poolSize = 3;
const pause = { name: 'lost.pause', text: 'select pg_sleep(0.05)' };
const readOne = { name: 'lost.read', text: 'select 1 as one' };
const add = { name: 'lost.add', text: 'insert into lost_things (id) values ($1)' };
/** The table has no unique key, so only the number of rows shows whether the statement ran twice. */
const addAgain = { name: 'lost.add-again', text: 'insert into lost_repeats (id) values ($1)' };
const countAgain = { name: 'lost.count-again', text: 'select count(*)::int as n from lost_repeats where id = $1' };
const countThings = { name: 'lost.count', text: 'select count(*)::int as n from lost_things where id = $1' };

describe('connections of a pool (architecture#data)', () => {
  let env: TestEnvironment;
  let proxy: TcpProxy;
  let db: Database;

  const open = (options: { poolSize: number; connectTimeoutMs?: number }): Promise<Database> =>
    createDatabase({
      url: proxy.url,
      schema: 'public',
      logger: env.logger,
      applicationName: 'lost connections',
      ...options,
    });

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    proxy = await startTcpProxy(env.settings['DATABASE_URL'] ?? '');
    await env.sql('create table lost_things (id integer primary key)');
    await env.sql('create table lost_repeats (id integer)');
  });
  beforeEach(async () => {
    db = await open({ poolSize });
    await Promise.all(Array.from({ length: poolSize }, () => db.query(pause)));
    expect(db.stats()).toMatchObject({ total: poolSize, idle: poolSize });
  });
  afterEach(() => db.close());
  afterAll(async () => {
    await proxy.stop();
    await env.stop();
  });

  describe('connections lost while idle, undetected by the pool', () => {
    it('retries a reading statement whose connection was lost while idle', async () => {
      proxy.breakConnections();
      await expect(Promise.all(Array.from({ length: poolSize }, () => db.query(readOne)))).resolves.toEqual(
        Array.from({ length: poolSize }, () => [{ one: 1 }]),
      );
    });

    it('retries a transaction whose connection was lost while idle, even if it writes', async () => {
      proxy.breakConnections();
      await db.transaction((tx) => tx.query(add, [1]));
      await expect(db.query(countThings, [1])).resolves.toEqual([{ n: 1 }]);
    });

    it('retries a stream whose connection was lost while idle', async () => {
      proxy.breakConnections();
      const sizes: number[] = [];
      for await (const rows of db.stream({ name: 'lost.many', text: 'select generate_series(1, 5)' }, [], {
        batchSize: 3,
      }))
        sizes.push(rows.length);
      expect(sizes).toEqual([3, 2]);
      expect(db.stats().idle).toBe(db.stats().total);
    });

    it('fails a writing statement whose connection was lost while idle, because it may have taken effect', async () => {
      proxy.breakConnections();
      await expect(db.query(add, [2])).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The database is not available',
      });
      await db.ping();
    });
  });

  it('fails a started transaction whose connection is lost, and does not retry it', async () => {
    let runs = 0;
    const failed = db.transaction(async (tx) => {
      runs += 1;
      await tx.query(add, [3]);
      proxy.breakConnections();
      await tx.query(readOne);
    });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    expect(runs).toBe(1);
    await expect(db.query(countThings, [3])).resolves.toEqual([{ n: 0 }]);
  });

  describe('connections lost after the commit, before the response (rules/operations#promises)', () => {
    it.each([
      { of: 'whose statements were answered before', id: 4, before: [readOne] },
      { of: 'that is one packet: begin, statement and commit', id: 5, before: [] },
    ])('fails without a retry after the commit of a transaction $of, whose effect remains', async ({ id, before }) => {
      const single = await open({ poolSize: 1 });
      await single.ping();
      let runs = 0;
      const transaction = single.transaction(async (tx) => {
        runs += 1;
        for (const statement of before) await tx.query(statement);
        tx.beforeCommit(() => tx.query(addAgain, [id]));
        void proxy.loseAnswer('COMMIT');
      });
      await expect(transaction).rejects.toMatchObject({ code: 'unavailable' });
      await expect(single.query(countAgain, [id])).resolves.toEqual([{ n: 1 }]);
      expect(runs).toBe(1);
      await single.close();
    });
  });

  it('fails a stream whose connection is lost after its first rows, and does not restart it', async () => {
    const read = async (): Promise<void> => {
      for await (const rows of db.stream({ name: 'lost.more', text: 'select generate_series(1, 9)' }, [], {
        batchSize: 3,
      })) {
        expect(rows).toHaveLength(3);
        proxy.breakConnections();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'unavailable' });
    await db.ping();
  });

  it('returns an error about waiting requests when all connections are in use for too long', async () => {
    const busy = await open({ poolSize: 1, connectTimeoutMs: 1_000 });
    await waitFor(() => busy.ping().then(() => true));
    await busy.transaction(async (tx) => {
      await tx.query(readOne);
      await expect(busy.query(readOne)).rejects.toMatchObject({
        code: 'unavailable',
        message: 'Too many requests wait for the database',
      });
    });
    await expect(busy.query(readOne)).resolves.toEqual([{ one: 1 }]);
    await busy.close();
  });
});
