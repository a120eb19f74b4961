/** A real primary is lost and a real standby is promoted while the process runs (rules/operations#promises). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import {
  type PostgresPair,
  runStatements as run,
  startPostgresPair,
  startTcpProxy,
  waitFor,
} from '#libs/product/testing';

const logger = createLogger({ service: 'test', level: 'fatal' });
let dir: string;
let pair: PostgresPair;
let db: Database;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'coherence-failover-'));
  pair = await startPostgresPair({ dir, synchronous: false });
  await run(pair.primary.url, 'create schema library', 'create table library.books (id int primary key, title text)');
  db = await createDatabase({ url: pair.url, schema: 'library', poolSize: 4, logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await pair.stop();
  rmSync(dir, { recursive: true, force: true });
});

const write = (id: number): Promise<unknown> =>
  db.query({ name: 'add', text: 'insert into books values ($1, $2)', pipelined: true }, [id, 'a title']);
const addInTransaction = (id: number): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query({ name: 'add', text: 'insert into books values ($1, $2)' }, [id, 'a title']);
  });
const list = async (): Promise<number[]> => {
  const rows = await db.query<{ id: number }>({ name: 'list', text: 'select id from books order by id' });
  return rows.map(({ id }) => id);
};
const listPids = async (): Promise<Set<number>> => {
  const rows = await Promise.all(
    Array.from({ length: 4 }, () =>
      db.transaction((tx) =>
        tx.query<{ pid: number }>({ name: 'pid', text: 'select pg_backend_pid() as pid, pg_sleep(0.05)' }),
      ),
    ),
  );
  return new Set(rows.flatMap((some) => some.map(({ pid }) => pid)));
};

describe('a database of several servers (target_session_attrs=read-write)', () => {
  it('connects to the server that accepts writes, regardless of its position in the URL', async () => {
    await write(1);
    expect(await list()).toEqual([1]);
    const { standby } = pair;
    await waitFor(async () => (await run(standby.url, 'select 1 from library.books')).length === 1, {
      what: 'the standby to follow',
    });
    expect((await run(standby.url, 'show transaction_read_only'))[0]).toEqual({ transaction_read_only: 'on' });
  });

  it('replaces its connections as soon as the server stops accepting writes, and acknowledges no write on the old ones', async () => {
    const { primary } = pair;
    const before = await listPids();
    expect(before.size).toBe(4);
    await run(primary.url, 'alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
    // Writes are repeated until one fails with a transient error, which happens as soon as the server has read the
    // setting. The earlier writes are visible.
    const taken = [1];
    for (let id = 50; ; id++) {
      const outcome = await write(id).catch((error: { code: string }) => error.code);
      if (outcome === 'unavailable') break;
      expect(outcome).toEqual([]);
      taken.push(id);
    }
    await expect(addInTransaction(2)).rejects.toMatchObject({ code: 'unavailable' });
    await run(
      primary.url,
      'set default_transaction_read_only = off',
      'alter system reset default_transaction_read_only',
      'select pg_reload_conf()',
    );
    await waitFor(() => addInTransaction(2).then(() => true), { what: 'a write' });
    await write(3);
    expect(await list()).toEqual([...taken, 2, 3].toSorted((a, b) => a - b));
    const after = await listPids();
    expect([...after].filter((pid) => before.has(pid))).toEqual([]);
  });

  it('remains connected to a busy and slow primary instead of a standby', async () => {
    const { primary, standby } = pair;
    const proxy = await startTcpProxy(primary.url);
    proxy.delay(1_300); // The delay applies to each of the three replies while a connection is opened.
    const url = pair.urlThrough([proxy.url, standby.url].map((one) => new URL(one).host));
    const late = await createDatabase({ url, schema: 'library', poolSize: 1, logger, applicationName: 'test' });
    await late.query({ name: 'add', text: 'insert into books values ($1, $2)' }, [4, 'a title']);
    expect(await run(primary.url, 'select id from library.books where id = 4')).toEqual([{ id: 4 }]);
    await late.close();
    await proxy.stop();
  });

  it('switches to a promoted standby without a restart, loses no acknowledged write, and stores no rejected one', async () => {
    const acknowledged: number[] = [];
    const state = { goesOn: true };
    let [next, longestMs] = [100, 0];
    const writing = (async () => {
      while (state.goesOn) {
        const id = next++;
        const startedAt = performance.now();
        // The write is retried with the same id, because a failed attempt may have taken effect.
        await waitFor(
          () =>
            addInTransaction(id).then(
              () => true,
              (error: { code?: string }) => error.code === '23505' || Promise.reject(error as Error),
            ),
          {
            intervalMs: 20,
          },
        );
        longestMs = Math.max(longestMs, performance.now() - startedAt);
        acknowledged.push(id);
      }
    })();
    await waitFor(() => acknowledged.length > 50);
    const { primary, standby } = pair;
    const replayed = "select coalesce(pg_last_wal_replay_lsn() >= '$'::pg_lsn, false) as done";
    await run(primary.url, 'alter system set default_transaction_read_only = on', 'select pg_reload_conf()'); // A planned switch-over: all writes are replicated before the standby is promoted.
    const [{ lsn } = { lsn: '' }] = await run(primary.url, 'select pg_current_wal_lsn()::text as lsn');
    await waitFor(async () => (await run(standby.url, replayed.replace('$', String(lsn))))[0]?.['done'] === true, {
      what: 'the standby to follow',
    });
    await primary.stop();
    await pair.promote();
    const so = acknowledged.length;
    await waitFor(() => acknowledged.length > so + 50, { what: 'writes on the new primary' });
    state.goesOn = false;
    await writing;
    const rows = await run(standby.url, 'select id from library.books where id >= 100 order by id');
    expect(rows.map(({ id }) => id)).toEqual(acknowledged);
    expect(longestMs).toBeLessThan(30_000);
  });
});
