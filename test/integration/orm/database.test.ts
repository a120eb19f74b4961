import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  constraintOf,
  createDatabase,
  type Database,
  type DatabaseOptions,
  sqlStateOf,
} from '#libs/infrastructure/orm';
import { migrate, Migration } from '#libs/infrastructure/orm/migrations';
import type { PreparedStatement } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';

class Migration20260101000000_things extends Migration {
  override up(): void {
    this.addSql(`create table things (
      id integer primary key,
      name text not null constraint things__name__unique unique,
      at timestamptz not null default now(),
      big bigint not null default 1,
      doc jsonb not null default '{}',
      parent integer constraint things__parent__foreign references things(id),
      constraint things__id__check check (id > 0))`);
  }
}

const addThing = { name: 'thing.add', text: `insert into things (id, name) values ($1, $2)` };
const findThing = { name: 'thing.find', text: `select id, name from things where id = $1` };

describe('createDatabase (architecture#data)', () => {
  let env: TestEnvironment;
  let db: Database;
  let settings: DatabaseOptions;
  let open: (options?: { statementTimeoutMs: number }) => Promise<Database>;
  let nextId = 1;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    const url = env.settings['DATABASE_URL'] ?? '';
    await migrate({ url, schema: 'ormtest', migrations: [Migration20260101000000_things], logger: env.logger });
    settings = { url, schema: 'ormtest', poolSize: 5, logger: env.logger, applicationName: 'orm test' };
    open = (more) => createDatabase({ ...settings, ...more });
    db = await open();
  });
  afterAll(async () => {
    await db.close();
    await env.stop();
  });

  const newId = (): number => nextId++;

  describe('statements of createDatabase', () => {
    it('prepares statements once per connection, inside and outside a transaction', async () => {
      const named = {
        name: 'prepared.count',
        text: `select count(*)::int as n from pg_prepared_statements where name = 'prepared.count'`,
      };
      const inside = await db.transaction(async (tx) => {
        await tx.query(named);
        const [own] = await tx.query<{ pid: number }>({ name: 'prepared.pid', text: 'select pg_backend_pid() as pid' });
        return [own?.pid, await tx.query(named)];
      });
      expect(inside[1]).toEqual([{ n: 1 }]);
      await expect(db.query(named)).resolves.toEqual([{ n: 1 }]);
    });

    it('uses custom, generic or automatic query plans as the statement declares', async () => {
      const plans = async (planned?: 'each-call' | 'once'): Promise<unknown> => {
        const name = `planned.${planned ?? 'freely'}`;
        const text = 'select count(*) from pg_class where relname = $1';
        const item = { name, text, ...(planned && { planned }) };
        return db.transaction(async (tx) => {
          for (const value of ['a', 'b', 'c']) await tx.query(item, [value]);
          return tx.query(
            {
              name: 'planned.count',
              text: `select generic_plans::int as generic, custom_plans::int as custom, current_setting('plan_cache_mode') as mode
               from pg_prepared_statements where name = $1`,
            },
            [name],
          );
        });
      };
      await expect(plans('once')).resolves.toEqual([{ generic: 3, custom: 0, mode: 'auto' }]);
      await expect(plans()).resolves.toEqual([{ generic: 0, custom: 3, mode: 'auto' }]);
      await expect(plans('each-call')).resolves.toEqual([]);
    });

    it("throws the error of a failed statement with a generic plan, and restores the connection's setting", async () => {
      const fail: PreparedStatement = { name: 'planned.fail', text: 'select 1 / $1::integer', planned: 'once' };
      const mode = { name: 'planned.mode', text: `select current_setting('plan_cache_mode') as mode` };
      for (let call = 0; call < 10; call++)
        expect(sqlStateOf(await db.query(fail, [0]).catch((error: unknown) => error))).toBe('22012');
      const modes = await Promise.all(Array.from({ length: 10 }, () => db.query(mode)));
      expect(modes.flat()).toEqual(Array.from({ length: 10 }, () => ({ mode: 'auto' })));
      expect(sqlStateOf(await db.transaction((tx) => tx.query(fail, [0])).catch((error: unknown) => error))).toBe(
        '22012',
      );
      await expect(db.query(mode)).resolves.toEqual([{ mode: 'auto' }]);
    });

    it('runs statements on the search path of the service', async () => {
      await expect(db.query({ name: 'path', text: `select current_schema() as schema` })).resolves.toEqual([
        { schema: 'ormtest' },
      ]);
    });

    it('returns instants, dates and JSON as text, int8 as number if a double can represent it', async () => {
      const text = `select '2026-05-01T10:00:00.000001Z'::timestamptz as at, '2026-05-01'::date as day, '{"n": 12345678901234567890}'::jsonb as doc,
        9007199254740991::int8 as safe, 9007199254740993::int8 as large, array['2026-05-01T10:00Z'::timestamptz] as list`;
      const [row] = await db.query({ name: 'types', text });
      expect(row).toEqual({
        at: '2026-05-01 10:00:00.000001+00',
        day: '2026-05-01',
        doc: '{"n": 12345678901234567890}',
        safe: 9007199254740991,
        large: '9007199254740993',
        list: ['2026-05-01 10:00:00+00'],
      });
    });

    it('runs a prepared statement again after a migration changed its result type', async () => {
      const read = { name: 'stale.read', text: 'select * from stale' };
      await db.query({ name: 'stale.create', text: 'create table stale (a int)' });
      await Promise.all(Array.from({ length: 5 }, () => db.query(read)));
      await db.query({ name: 'stale.alter', text: 'alter table stale add column b int' });
      await expect(db.query(read)).resolves.toEqual([]);
      await expect(db.transaction((tx) => tx.query(read))).resolves.toEqual([]);
    });

    it('names the violated constraint in the error of a statement', async () => {
      const id = newId();
      await db.query(addThing, [id, `thing ${id}`]);
      const twice = await db.query(addThing, [newId(), `thing ${id}`]).catch((error: unknown) => error);
      expect(constraintOf(twice)).toBe('things__name__unique');
      expect(sqlStateOf(twice)).toBe('23505');
      expect(constraintOf(await db.query(addThing, [-1, 'x']).catch((error: unknown) => error))).toBe(
        'things__id__check',
      );
    });

    it('fails with deadline_exceeded at the statement timeout', async () => {
      const hasty = await open({ statementTimeoutMs: 200 });
      await expect(hasty.query({ name: 'sleep', text: 'select pg_sleep(60)' })).rejects.toMatchObject({
        code: 'deadline_exceeded',
      });
      await hasty.close();
    });
  });

  describe('transactions of createDatabase', () => {
    it('rolls back a transaction when its callback throws, and releases the connection', async () => {
      const id = newId();
      const failed = db.transaction(async (tx) => {
        await tx.query(addThing, [id, `lost ${id}`]);
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      await expect(db.query(findThing, [id])).resolves.toEqual([]);
      expect(db.stats().waiting).toBe(0);
      expect(db.stats().idle).toBe(db.stats().total);
    });

    it('fails a transaction with the error of a statement that its callback ignores', async () => {
      const failed = db.transaction(async (tx) => {
        await tx.query({ name: 'divide', text: 'select 1 / 0' }).catch(() => undefined);
      });
      await expect(failed).rejects.toMatchObject({ code: '22012' });
    });

    it.each(['once', 'each-call', undefined] as const)(
      'fails every later statement of a failed transaction (planned: %s) with the first error',
      async (planned) => {
        const seen: unknown[] = [];
        const failed = db.transaction(async (tx) => {
          const failing = tx.query({ name: `divide.${planned}`, text: 'select 1 / 0', ...(planned && { planned }) });
          const statements = [failing, tx.query(addThing, [newId(), 'behind']), tx.query(findThing, [1])];
          await Promise.all(
            statements.map((statement) => statement.catch((error: unknown) => seen.push(sqlStateOf(error)))),
          );
          await tx.query(findThing, [1]);
        });
        await expect(failed).rejects.toMatchObject({ code: '22012' });
        expect(seen).toEqual(['22012', '22012', '22012']);
      },
    );

    it('retries a transaction when a statement after the deadlock reports it', async () => {
      const fail = {
        name: 'deadlock',
        text: `do $$ begin raise exception 'stuck' using errcode = '40P01'; end $$`,
        planned: 'once',
      } as const;
      let attempts = 0;
      const result = db.transaction(async (tx) => {
        attempts++;
        if (attempts < 3) await Promise.all([tx.query(fail), tx.query(findThing, [1])]);
        return 'done';
      });
      await expect(result).resolves.toBe('done');
      expect(attempts).toBe(3);
    });

    it.each(['40P01', '40001', '55P03'])(
      'returns unavailable when a transaction repeatedly fails with %s',
      async (code) => {
        const fail = {
          name: `fail.${code}`,
          text: `do $$ begin raise exception 'stuck' using errcode = '${code}'; end $$`,
        };
        const failed = db.transaction((tx) => Promise.all([tx.query(fail), tx.query(findThing, [1])]));
        await expect(failed).rejects.toMatchObject({ code: 'unavailable', status: 503, retryable: true });
        await expect(db.query(fail)).rejects.toMatchObject({ status: 503, retryable: true });
      },
    );

    it('sends the statements of a pipeline without waiting, applies them in order, and throws the first failure', async () => {
      const id = newId();
      const sent: number[] = [];
      const [added, found] = await db.transaction((tx) =>
        tx.pipeline(
          () => {
            sent.push(1);
            return tx.query(addThing, [id, `ordered ${id}`]).finally(() => sent.push(3));
          },
          () => {
            sent.push(2);
            return tx.query<{ id: number }>(findThing, [id]);
          },
        ),
      );
      expect({ added, found, sent }).toEqual({ added: [], found: [{ id, name: `ordered ${id}` }], sent: [1, 2, 3] });
      let ended = 0;
      const failed = db.transaction((tx) =>
        tx.pipeline(
          () => tx.query({ name: 'ordered.divide', text: 'select 1 / 0' }),
          () => tx.query(addThing, [newId(), `ordered ${id}`]).finally(() => ended++),
        ),
      );
      await expect(failed).rejects.toMatchObject({ code: '22012' });
      expect(ended).toBe(1);
    });

    it('rejects statements after the end of the transaction', async () => {
      let kept: { query: (item: PreparedStatement) => Promise<unknown> } | undefined;
      await db.transaction(async (tx) => void (kept = tx));
      await expect(kept?.query({ name: 'late', text: 'select 1' })).rejects.toThrow(/is over/);
    });

    it('retries a transaction after a serialization failure or a deadlock, and runs its callbacks once', async () => {
      const [first, second] = [newId(), newId()];
      for (const id of [first, second]) await db.query(addThing, [id, `lock ${id}`]);
      const lock = { name: 'thing.lock', text: 'update things set big = big + 1 where id = $1' };
      let attempts = 0;
      let called = 0;
      let met = 0;
      const meet = async (): Promise<void> => {
        met++;
        await waitFor(() => met >= 2);
      };
      const cross = (a: number, b: number): Promise<void> =>
        db.transaction(async (tx) => {
          attempts++;
          tx.afterCommit(() => called++);
          await tx.query(lock, [a]);
          await meet();
          await tx.query(lock, [b]);
        });
      await Promise.all([cross(first, second), cross(second, first)]);
      expect(attempts).toBeGreaterThan(2);
      expect(called).toBe(2);
      await expect(
        db.query({ name: 'thing.sum', text: 'select sum(big)::int as sum from things where id = any($1)' }, [
          [first, second],
        ]),
      ).resolves.toEqual([{ sum: 6 }]);
    });

    it('retries a transaction that refers to a row deleted meanwhile, up to six times', async () => {
      const addChild = { name: 'thing.add-child', text: `insert into things (id, name, parent) values ($1, $2, $3)` };
      const [parent, child] = [newId(), newId()];
      let attempts = 0;
      const run = (parentAt: number): Promise<void> =>
        db.transaction(async (tx) => {
          if (++attempts === parentAt) await tx.query(addThing, [parent, `parent ${parent}`]);
          await tx.query(addChild, [child, `child ${child}`, parent]);
        });
      await expect(run(0)).rejects.toMatchObject({ constraint: 'things__parent__foreign' });
      expect(attempts).toBe(6);
      await run(8);
      await expect(db.query(findThing, [child])).resolves.toHaveLength(1);
    });

    it('sends the statements of beforeCommit together with the commit, and fails with their error', async () => {
      const [id, other] = [newId(), newId()];
      let committed = 0;
      await db.transaction(async (tx) => {
        tx.beforeCommit(() =>
          Promise.all([tx.query(addThing, [id, `last ${id}`]), tx.query(addThing, [other, `last ${other}`])]),
        );
        tx.afterCommit(() => committed++);
      });
      await expect(db.query(findThing, [id])).resolves.toHaveLength(1);
      const failed = db.transaction(async (tx) => {
        await tx.query(addThing, [newId(), 'undone']);
        tx.beforeCommit(() => tx.query(addThing, [newId(), `last ${id}`]));
        tx.afterCommit(() => committed++);
      });
      await expect(failed).rejects.toMatchObject({ constraint: 'things__name__unique' });
      await expect(
        db.query({ name: 'thing.undone', text: `select 1 from things where name = 'undone'` }),
      ).resolves.toEqual([]);
      expect(committed).toBe(1);
      expect(db.stats().idle).toBe(db.stats().total);
    });

    it('does not run the afterCommit callbacks of a failed transaction', async () => {
      let called = false;
      const failed = db.transaction(async (tx) => {
        tx.afterCommit(() => (called = true));
        await tx.query(addThing, [0, 'x']);
      });
      await expect(failed).rejects.toMatchObject({ constraint: 'things__id__check' });
      expect(called).toBe(false);
    });
  });

  describe('streams of createDatabase', () => {
    const numbers = { name: 'numbers', text: 'select i from generate_series(1, $1::int) i' };

    it('streams rows in batches from a cursor', async () => {
      const sizes: number[] = [];
      for await (const rows of db.stream(numbers, [250], { batchSize: 100 })) sizes.push(rows.length);
      expect(sizes).toEqual([100, 100, 50]);
      sizes.length = 0;
      for await (const rows of db.stream(numbers, [250], { batchSize: 60, firstBatchSize: 130 }))
        sizes.push(rows.length);
      expect(sizes).toEqual([130, 60, 60]);
    });

    it('completes a stream when the reader stops at the last batch, and yields no batch for an empty result', async () => {
      for await (const rows of db.stream(numbers, [5], { batchSize: 10 })) {
        expect(rows).toHaveLength(5);
        break;
      }
      for await (const _rows of db.stream(numbers, [0], { batchSize: 10 })) throw new Error('a batch without rows');
      expect(db.stats().idle).toBe(db.stats().total);
      await expect(
        db.query({
          name: 'open',
          text: `select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
        }),
      ).resolves.toEqual([]);
    });

    it('applies planner settings to a single streamed query', async () => {
      const setting = {
        name: 'setting',
        text: `select current_setting('cursor_tuple_fraction') as value from generate_series(1, $1::int)`,
      };
      for await (const rows of db.stream<{ value: string }>(setting, [1], {
        batchSize: 2,
        planner: { cursor_tuple_fraction: '0.25' },
      }))
        expect(rows).toEqual([{ value: '0.25' }]);
      await expect(db.query(setting, [1])).resolves.toEqual([{ value: '0.1' }]);
    });

    it('ends a streamed query when the reader stops, and keeps the connection', async () => {
      const before = db.stats().total;
      for await (const rows of db.stream(numbers, [100_000], { batchSize: 10 })) {
        expect(rows).toHaveLength(10);
        break;
      }
      const running = {
        name: 'running',
        text: `select count(*)::int as n from pg_stat_activity where query like '%generate_series(1%' and state = 'active' and pid <> pg_backend_pid()`,
      };
      await waitFor(async () => (await db.query<{ n: number }>(running))[0]?.n === 0);
      expect(db.stats().total).toBeLessThanOrEqual(Math.max(before, 2));
      expect(db.stats().idle).toBe(db.stats().total);
    });

    it('throws the error of a streamed query, and keeps the pool usable', async () => {
      const read = async (): Promise<void> => {
        for await (const _rows of db.stream(
          { name: 'fails', text: 'select 10 / (5 - i) from generate_series(1, 9) i' },
          [],
          {
            batchSize: 2,
          },
        ));
      };
      await expect(read()).rejects.toThrow(/division by zero/);
      await db.ping();
    });
  });

  describe('createDatabase while the database is unavailable', () => {
    it('returns unavailable for an unreachable database without revealing secrets', async () => {
      const url = new URL(env.settings['DATABASE_URL'] ?? '');
      url.port = '1';
      url.password = 'hidden-word';
      const away = await createDatabase({
        url: url.href,
        schema: 'x',
        poolSize: 1,
        logger: env.logger,
        applicationName: 'away',
      });
      const calls = [
        () => away.ping(),
        () => away.transaction((tx) => tx.query(findThing, [1])),
        () => away.stream(findThing, [1], { batchSize: 1 })[Symbol.asyncIterator]().next(),
      ];
      for (const call of calls) {
        const error: unknown = await call().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toMatchObject({ code: 'unavailable', message: 'The database is not available' });
        expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hidden-word');
      }
      await away.close();
    });

    it('rejects a malformed database URL without repeating it', async () => {
      const broken = createDatabase({
        url: 'postgres://a:hidden-word@[',
        schema: 'x',
        poolSize: 1,
        logger: env.logger,
        applicationName: 'x',
      });
      const error = await broken.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(String(error)).toMatch(/DATABASE_URL is not a valid/);
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hidden-word');
    });

    it('fails only running statements when connections are cut', async () => {
      await Promise.all(Array.from({ length: 3 }, () => db.ping()));
      const outcome = db
        .transaction((tx) => tx.query({ name: 'cut', text: 'select pg_sleep(25)' }))
        .then(
          () => 'committed',
          (error: unknown) => error,
        );
      await waitFor(async () => {
        const cut = `select count(pg_terminate_backend(pid))::int as n from pg_stat_activity where application_name = 'orm test' and state = 'active' and query like '%pg_sleep(25)%'`;
        return (await env.sql<{ n: number }>(cut))[0]?.n === 1;
      });
      expect(await outcome).toMatchObject({ code: 'unavailable' });
      await env.sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'orm test'`);
      await waitFor(() => db.ping().then(() => true));
      expect(db.stats().total).toBeLessThanOrEqual(5);
    });
  });
});
