/** The library with a real PgBouncer in transaction mode (rules/operations#a-pooler). */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database, type DatabaseOptions, roleOf } from '#libs/infrastructure/orm';
import { migrate, Migration } from '#libs/infrastructure/orm/migrations';
import {
  createTestEnvironment,
  type PgBouncer,
  provideTimeoutMs,
  startPgBouncer,
  type TestEnvironment,
  waitFor,
} from '#libs/product/testing';

class Migration20260101000000_books extends Migration {
  override up(): void {
    this.addSql('create table books (id int primary key, title text)');
  }
}

const poolSize = 2;
const role = `r_${randomBytes(5).toString('hex')}`;
let env: TestEnvironment;
let pgBouncer: PgBouncer;
let adminUrl: string;
let ownUrl: string;
let db: Database;

const open = (options: Partial<DatabaseOptions> = {}): Promise<Database> =>
  createDatabase({
    url: pgBouncer.through(ownUrl),
    schema: 'library',
    pooled: true,
    poolSize: 10,
    logger: env.logger,
    applicationName: 'test',
    ...options,
  });
const setUp = (url = adminUrl, schema = 'library'): Promise<string[]> =>
  migrate({
    url,
    schema,
    migrations: [Migration20260101000000_books],
    logger: env.logger,
    role: roleOf(ownUrl, 'DATABASE_URL_LIBRARY'),
  });
const countServerConnections = async (): Promise<number> =>
  Number(
    (
      await env.sql<{ count: string }>(
        'select count(*) from pg_stat_activity where usename = $1 and datname = current_database()',
        [role],
      )
    )[0]?.count,
  );

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  adminUrl = env.settings['DATABASE_URL'] ?? '';
  const url = new URL(adminUrl);
  [url.username, url.password] = [role, randomBytes(9).toString('hex')];
  ownUrl = url.href;
  await setUp();
  pgBouncer = await startPgBouncer({ urls: [adminUrl, ownUrl], poolSize });
  db = await open();
}, provideTimeoutMs);
afterAll(async () => {
  await db.close();
  await pgBouncer.stop();
  await env.sql(`drop owned by ${role} cascade`);
  await env.sql(`drop role ${role}`);
  await env.stop();
});

const title = (id: number) =>
  db.query<{ title: string }>({ name: 'title', text: 'select title from books where id = $1', pipelined: true }, [id]);

describe('a database behind a pooler', () => {
  it("reads, writes and streams for many clients on few connections, with query plans and schema of the service's role", async () => {
    const ids = Array.from({ length: 200 }, (_, index) => index + 1);
    await Promise.all(
      ids.map((id) =>
        db.transaction(async (tx) => {
          await tx.query({ name: 'add', text: 'insert into books values ($1, $2)' }, [id, `title ${id}`]);
          await tx.query(
            { name: 'rename', text: 'update books set title = title || $2 where id = $1', planned: 'once' },
            [id, '!'],
          );
        }),
      ),
    );
    const found = await Promise.all(ids.map(async (id) => (await title(id))[0]?.title));
    expect(found).toEqual(ids.map((id) => `title ${id}!`));
    const streams = Array.from({ length: 8 }, async () => {
      let rows = 0;
      const all = { name: 'all', text: 'select title from books where id > $1' };
      for await (const batch of db.stream<{ title: string }>(all, [100], {
        batchSize: 10,
        planner: { enable_seqscan: 'off' },
      }))
        rows += batch.length;
      return rows;
    });
    expect(await Promise.all(streams)).toEqual(streams.map(() => 100));
    expect(await countServerConnections()).toBeLessThanOrEqual(poolSize);
    const names = [
      'search_path',
      'random_page_cost',
      'jit',
      'max_parallel_workers_per_gather',
      'work_mem',
      'statement_timeout',
      'enable_seqscan',
    ];
    const settings = await Promise.all(
      Array.from({ length: 6 }, () =>
        db.query({
          name: 'settings',
          text: `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`,
        }),
      ),
    );
    for (const [row] of settings) {
      expect(row).toEqual({
        search_path: 'library, public',
        random_page_cost: '1.1',
        jit: 'off',
        max_parallel_workers_per_gather: '0',
        work_mem: '16MB',
        statement_timeout: '1min',
        enable_seqscan: 'on',
      });
    }
  });

  it('uses no named prepared statements behind a pooler, even for generic plans', async () => {
    const prepared = { name: 'prepared', text: 'select name from pg_prepared_statements', planned: 'once' as const };
    const listed = await Promise.all(Array.from({ length: 6 }, () => db.query(prepared)));
    expect(listed.flat()).toEqual([]);
  });

  it('rolls back a failed transaction behind a pooler, and reuses the connection', async () => {
    const twice = db.transaction(async (tx) => {
      await tx.query({ name: 'add', text: 'insert into books values ($1, $2)' }, [1_000, 'new']);
      await tx.query({ name: 'add', text: 'insert into books values ($1, $2)' }, [1, 'there already']);
    });
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    expect(await title(1_000)).toEqual([]);
    expect(await countServerConnections()).toBeLessThanOrEqual(poolSize);
  });

  it('releases an advisory lock at the end of its transaction behind a pooler', async () => {
    const lock = { name: 'lock', text: 'select pg_advisory_xact_lock(1)' };
    const attempt = { name: 'try', text: 'select pg_try_advisory_xact_lock(1) as mine' };
    const attemptOf = async (): Promise<unknown> =>
      (await db.transaction((tx) => tx.query<{ mine: boolean }>(attempt)))[0]?.mine;
    await db.transaction(async (tx) => {
      await tx.query(lock);
      expect(await attemptOf()).toBe(false);
    });
    await expect(
      db.transaction(async (tx) => {
        await tx.query(lock);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await attemptOf()).toBe(true);
    const order: string[] = [];
    const inTurn = async (name: string): Promise<void> =>
      db.transaction(async (tx) => {
        await tx.query(lock);
        order.push(`${name} begins`);
        await tx.query({ name: 'ping', text: 'select 1' });
        order.push(`${name} ends`);
      });
    // More calls than server connections: both the calls that wait for the lock and the calls that wait for a
    // connection complete.
    await Promise.all(Array.from({ length: 8 }, (_, index) => inTurn(`${index}`)));
    expect(order).toHaveLength(16);
    for (let place = 0; place < order.length; place += 2)
      expect(order[place + 1]).toBe(order[place]?.replace('begins', 'ends'));
  });

  it('is unavailable while the pooler is down, and recovers afterwards', async () => {
    await pgBouncer.disconnect();
    await expect(title(1)).rejects.toMatchObject({ code: 'unavailable' });
    await pgBouncer.return();
    await waitFor(async () => (await title(1).catch(() => [])).length === 1, { what: 'the pooler' });
  });

  it('rejects a database role that is not set up for the schema of the service', async () => {
    const other = await open({ schema: 'annex' });
    const asked = other.query({ name: 'ping', text: 'select 1' });
    await expect(asked).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringContaining('DATABASE_URL_ANNEX') },
    });
    await other.close();
  });
});

describe('required settings for a pooler', () => {
  it('rejects a pooler when DATABASE_POOLER is not set', async () => {
    const untold = await open({ pooled: false });
    await expect(untold.ping()).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringContaining('DATABASE_POOLER must be transaction') },
    });
    await untold.close();
  });

  it('rejects start options in the URL, which the pooler would drop', async () => {
    await expect(open({ url: `${pgBouncer.through(ownUrl)}?options=-c%20work_mem%3D64MB` })).rejects.toThrow(
      'set them at the role',
    );
  });

  it('runs migrations only with a direct URL to PostgreSQL, even if the pooler ignores unknown parameters', async () => {
    const message = 'must lead straight to PostgreSQL';
    await expect(setUp(pgBouncer.through(adminUrl))).rejects.toThrow(message);
    const silent = await startPgBouncer({
      urls: [adminUrl],
      poolSize,
      settings: { ignore_startup_parameters: 'options,statement_timeout,idle_in_transaction_session_timeout' },
    });
    try {
      await expect(setUp(silent.through(adminUrl), 'elsewhere')).rejects.toThrow(message);
      expect(await env.sql(`select 1 from pg_namespace where nspname = 'elsewhere'`)).toEqual([]);
    } finally {
      await silent.stop();
    }
  });
});
