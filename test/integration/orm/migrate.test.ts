import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { createDatabase, type Database, openSnapshot } from '#libs/infrastructure/orm';
import {
  migrate,
  type MigrateOptions,
  Migration,
  OnlineMigration,
  openMigrationRun,
} from '#libs/infrastructure/orm/migrations';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { formatInstant } from '#libs/infrastructure/time';

class Migration20260101000000_first extends Migration {
  override up(): void {
    this.addSql('create table first (id int); insert into first values (1)');
  }
}
class Migration20260102000000_second extends Migration {
  override up(): void {
    this.addSql('create table second (id int)');
  }
}
class Migration20260103000000_broken extends Migration {
  override up(): void {
    this.addSql('create table third (id int)');
    this.addSql('select nonsense');
  }
}
class Migration20260104000000_widened extends Migration {
  override up(): void {
    this.addSql('alter table first add column more int');
  }
}
class Migration20260105000000_online extends OnlineMigration {
  override up(): void {
    this.addSql('create table filled (id int primary key, value int, copy int)');
    this.addSql('insert into filled (id, value) select n, n / 2 from generate_series(1, 10) as n');
    this.addBackfill({
      table: 'filled',
      key: 'id',
      sql: 'update filled set copy = value / (id - 7) where id > $1 and id <= $2',
      batch: 3,
    });
    this.addSql('create unique index concurrently filled__value on filled (value)');
    this.addSql('drop index concurrently if exists online.filled__value_gone');
  }
}
class Unnamed extends Migration {
  override up(): void {}
}

describe('migrate (architecture#data)', () => {
  let env: TestEnvironment;
  let url: string;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    url = env.settings['DATABASE_URL'] ?? '';
  });
  afterAll(async () => {
    await env.stop();
  });

  const tablesOf = async (schema: string): Promise<string[]> => {
    const rows = await env.sql<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = $1 order by 1`,
      [schema],
    );
    return rows.map(({ name }) => name);
  };

  it('creates the schema, runs pending migrations in order, and runs none when repeated', async () => {
    const options = { url, schema: 'steps', logger: env.logger };
    const first = [Migration20260101000000_first];
    await expect(migrate({ ...options, migrations: first })).resolves.toEqual(['Migration20260101000000_first']);
    const both = [...first, Migration20260102000000_second];
    await expect(migrate({ ...options, migrations: both })).resolves.toEqual(['Migration20260102000000_second']);
    await expect(migrate({ ...options, migrations: both })).resolves.toEqual([]);
    await expect(tablesOf('steps')).resolves.toEqual(['first', 'migrations', 'second']);
  });

  it('records a replacement as executed if all migrations that it replaces have run, and runs it if none has', async () => {
    class Migration20260103000000_release extends Migration {
      override up(): void {
        this.addSql('create table first (id integer)');
      }
    }
    const { name } = Migration20260103000000_release;
    const migrations = [Migration20260103000000_release];
    const replaced = { [name]: [Migration20260101000000_first.name, Migration20260102000000_second.name] };
    const all = { url, schema: 'replaced', logger: env.logger };
    await migrate({ ...all, migrations: [Migration20260101000000_first, Migration20260102000000_second] });
    await expect(migrate({ ...all, migrations, replaced })).resolves.toEqual([]);
    await expect(env.sql(`select name from replaced.migrations where name = '${name}'`)).resolves.toHaveLength(1);
    await expect(migrate({ ...all, schema: 'unreplaced', migrations, replaced })).resolves.toEqual([name]);
    await expect(env.sql(`select name from unreplaced.migrations`)).resolves.toHaveLength(3);
    const partly = { ...all, schema: 'partly' };
    await migrate({ ...partly, migrations: [Migration20260101000000_first] });
    await expect(migrate({ ...partly, migrations, replaced })).rejects.toThrow(
      /schema partly has only some of the migrations that \S+_release replaces; these are missing: Migration20260102000000_second/,
    );
    await expect(env.sql(`select name from partly.migrations`)).resolves.toHaveLength(1);
  });

  it('runs one migrating process at a time', async () => {
    const migrations = [Migration20260101000000_first, Migration20260102000000_second];
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => migrate({ url, schema: 'crowd', migrations, logger: env.logger })),
    );
    expect(runs.flat()).toHaveLength(2);
    await expect(env.sql('select * from crowd.first')).resolves.toEqual([{ id: 1 }]);
  });

  it('rolls back a failed migration, keeps earlier ones and names the failed one', async () => {
    const migrations = [Migration20260102000000_second, Migration20260103000000_broken];
    const failing = migrate({ url, schema: 'failing', migrations, logger: env.logger });
    await expect(failing).rejects.toThrow(
      /migration Migration20260103000000_broken of schema failing failed: .*nonsense/s,
    );
    await expect(tablesOf('failing')).resolves.toEqual(['migrations', 'second']);
  });

  it('releases the migration lock after a failure', async () => {
    await expect(
      migrate({ url, schema: 'failing', migrations: [Migration20260102000000_second], logger: env.logger }),
    ).resolves.toEqual([]);
  });

  /** Opens a separate session with a transaction that has read `table`. */
  async function openReader(table: string, application: string): Promise<pg.Client> {
    const reader = new pg.Client({ connectionString: url, application_name: application });
    await reader.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query(`select * from ${table}`);
    return reader;
  }
  /** Returns the statements with which a migration of the schema waits for a lock. */
  const blocked = (schema: string) =>
    env.sql(`select pid from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`, [
      `migrate-${schema}`,
    ]);
  const widen = (schema: string, more: Partial<MigrateOptions> = {}): Promise<string[]> =>
    migrate({
      url,
      schema,
      migrations: [Migration20260101000000_first, Migration20260104000000_widened],
      logger: env.logger,
      ...more,
    });
  const begin = (schema: string) =>
    migrate({ url, schema, migrations: [Migration20260101000000_first], logger: env.logger });

  it('lets requests run between the attempts of a migration to lock a table that is being read', async () => {
    await begin('patient');
    const reader = await openReader('patient.first', 'long-reader');
    const done = widen('patient', { lockTimeoutMs: 300 });
    await waitFor(async () => (await blocked('patient')).length === 1, { what: 'the migration waits for the lock' });
    // If this statement were queued behind the migration, it would wait until the reader ends.
    await expect(env.sql('select id from patient.first')).resolves.toEqual([{ id: 1 }]);
    await reader.end();
    await expect(done).resolves.toEqual(['Migration20260104000000_widened']);
  });

  it('names the holder of a lock that a migration could not acquire in time, and changes nothing', async () => {
    await begin('refused');
    const reader = await openReader('refused.first', 'long-reader');
    await expect(widen('refused', { lockTimeoutMs: 1_500, waitMs: 1_000 })).rejects.toThrow(
      /Migration20260104000000_widened of schema refused did not get its locks in 1 s, which others hold: long-reader \(pid \d+, /,
    );
    await reader.end();
    await expect(env.sql('select * from refused.first')).resolves.toEqual([{ id: 1 }]);
  });

  it('removes the lock request of an interrupted migration', async () => {
    await begin('ended');
    const reader = await openReader('ended.first', 'long-reader');
    const ended = new AbortController();
    const done = widen('ended', { lockTimeoutMs: 600_000, signal: ended.signal });
    await waitFor(async () => (await blocked('ended')).length === 1, { what: 'the migration waits for the lock' });
    ended.abort(new Error('the process received SIGTERM'));
    await expect(done).rejects.toThrow('the migration of schema ended was interrupted: the process received SIGTERM');
    await expect(blocked('ended')).resolves.toEqual([]);
    await reader.end();
    await expect(widen('ended')).resolves.toEqual(['Migration20260104000000_widened']);
  });

  it('waits for old transactions before the first pending migration, and names those that do not end', async () => {
    await begin('old');
    const reader = await openReader('old.first', 'weekly-report');
    await expect(begin('old')).resolves.toEqual([]);
    await expect(widen('old', { oldTransactionMs: 0, waitMs: 600 })).rejects.toThrow(
      /transactions are open for too long: weekly-report \(pid \d+, role .+, for \d+ s\)\. .* Nothing was changed/,
    );
    const done = widen('old', { oldTransactionMs: 0 });
    await reader.end();
    await expect(done).resolves.toHaveLength(1);
  });

  it('names the other migration that prevents its start', async () => {
    const run = await openMigrationRun({ url, logger: env.logger });
    await expect(migrate({ url, schema: 'second', migrations: [], logger: env.logger, waitMs: 600 })).rejects.toThrow(
      /another migration or a backup did not end in time: migrate \(pid \d+, role .+\)\. Nothing was changed/,
    );
    await run.close();
    await expect(migrate({ url, schema: 'second', migrations: [], logger: env.logger })).resolves.toEqual([]);
  });

  it('prevents a migration and a database copy from running at the same time', async () => {
    await begin('copied');
    const run = await openMigrationRun({ url, logger: env.logger });
    await expect(openSnapshot(url, ['copied'])).rejects.toThrow(
      /a migration is running \(migrate \(pid \d+, role .+\)\): try again/,
    );
    await run.close();
    const snapshot = await openSnapshot(url, ['copied']);
    await expect(widen('copied', { waitMs: 600 })).rejects.toThrow(
      /did not end in time: backup \(pid \d+, .+\)\. Nothing was changed/,
    );
    await snapshot.close();
    await expect(widen('copied')).resolves.toHaveLength(1);
  });

  it('continues at the failed step of an online migration, and drops its incomplete index', async () => {
    const run = (): Promise<string[]> =>
      migrate({ url, schema: 'online', migrations: [Migration20260105000000_online], logger: env.logger });
    const filled = () => env.sql<{ id: number; copy: number | null }>('select id, copy from online.filled order by id');
    await expect(run()).rejects.toThrow(
      /step 3 of 5 of migration Migration20260105000000_online of schema online failed: division by zero/,
    );
    const copied = (await filled()).filter(({ copy }) => copy !== null);
    expect(copied.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
    await expect(openSnapshot(url, ['online'])).rejects.toThrow('a migration of schema online is not complete');
    // Completed steps do not run again: the table exists, and these rows would get another copy.
    await env.sql('update online.filled set value = 0, copy = -1 where id < 7');
    await env.sql('update online.filled set id = id + 10 where id >= 7');
    await expect(run()).rejects.toThrow(/step 4 of 5 .* could not create unique index/);
    expect((await filled()).slice(0, 7).map(({ copy }) => copy)).toEqual([-1, -1, -1, -1, -1, -1, 0]);
    const valid = () =>
      env.sql(`select indisvalid as valid from pg_index where indexrelid = to_regclass('online.filled__value')`);
    await expect(valid()).resolves.toEqual([{ valid: false }]);
    await env.sql('update online.filled set value = id');
    await expect(run()).resolves.toEqual(['Migration20260105000000_online']);
    await expect(valid()).resolves.toEqual([{ valid: true }]);
    await expect(tablesOf('online')).resolves.toEqual(['filled', 'migrations']);
    await expect(run()).resolves.toEqual([]);
  });

  it('builds an index although a transaction is open for longer than the lock timeout', async () => {
    class Migration20260106000000_index extends OnlineMigration {
      override up(): void {
        this.addSql('create index concurrently first__id on first (id)');
      }
    }
    await begin('built');
    const reader = await openReader('built.first', 'long-reader');
    const migrations = [Migration20260101000000_first, Migration20260106000000_index];
    const done = migrate({ url, schema: 'built', migrations, logger: env.logger, lockTimeoutMs: 100 });
    await waitFor(async () => (await blocked('built')).length === 1, { what: 'the build waits for the transaction' });
    const [waited] = await env.sql<{ waits: boolean }>(`select pg_sleep(0.3) is not null as waits`);
    expect([waited, (await blocked('built')).length]).toEqual([{ waits: true }, 1]);
    await reader.end();
    await expect(done).resolves.toHaveLength(1);
  });

  it('rejects unordered migrations, unnamed migrations and invalid schema names', async () => {
    const options = { url, schema: 'never', logger: env.logger };
    const unordered = [Migration20260102000000_second, Migration20260101000000_first];
    await expect(migrate({ ...options, migrations: unordered })).rejects.toThrow(/in that order/);
    await expect(migrate({ ...options, migrations: [Unnamed] })).rejects.toThrow(/must be named/);
    await expect(migrate({ ...options, schema: 'a; drop', migrations: [] })).rejects.toThrow(/not a name of a schema/);
    await expect(tablesOf('never')).resolves.toEqual([]);
  });
});

describe('iso_utc (rules/http#datetimes-out)', () => {
  let env: TestEnvironment;
  let db: Database;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    const url = env.settings['DATABASE_URL'] ?? '';
    await migrate({ url, schema: 'clock', migrations: [], logger: env.logger });
    db = await createDatabase({ url, schema: 'clock', poolSize: 2, logger: env.logger, applicationName: 'iso_utc' });
  });
  afterAll(async () => {
    await db.close();
    await env.stop();
  });

  const format = {
    name: 'format',
    text: 'select iso_utc(at) as text from unnest($1::timestamptz[]) with ordinality as t (at, n) order by n',
  };
  const formatAll = async (texts: (string | null)[]): Promise<(string | null)[]> =>
    (await db.query<{ text: string | null }>(format, [texts])).map(({ text }) => text);

  it('prints an instant in UTC, with six fractional digits unless the microseconds are zero', async () => {
    const texts = [
      '2026-05-01T10:00:00Z',
      '2026-05-01T12:00:00.5+02:00',
      '2026-05-01T10:00:00.000001Z',
      '2026-12-31T23:59:59.999999Z',
      null,
    ];
    await expect(formatAll(texts)).resolves.toEqual([
      '2026-05-01T10:00:00Z',
      '2026-05-01T10:00:00.500000Z',
      '2026-05-01T10:00:00.000001Z',
      '2026-12-31T23:59:59.999999Z',
      null,
    ]);
  });

  it('iso_utc matches libs/infrastructure/time from year 1 to year 9999', async () => {
    const first = -62_135_596_800_000_000n;
    const last = 253_402_300_799_999_999n;
    const instants = fc.sample(
      fc.oneof(
        fc.bigInt(first, last),
        fc.bigInt(first / 1_000_000n, last / 1_000_000n).map((seconds) => seconds * 1_000_000n),
      ),
      2_000,
    );
    const texts = [first, last, 0n, -1n, ...instants].map((instant) => formatInstant(instant));
    await expect(formatAll(texts)).resolves.toEqual(texts);
  });

  it('iso_utc ignores the time zone of the session, and is inlined by the planner', async () => {
    await db.transaction(async (tx) => {
      await tx.query({ name: 'zone', text: `set local timezone = 'Asia/Kolkata'` });
      await expect(tx.query(format, [['2026-05-01T10:00:00Z']])).resolves.toEqual([{ text: '2026-05-01T10:00:00Z' }]);
    });
    const plan = await db.query({
      name: 'plan',
      text: `explain verbose select iso_utc(at) from (values (now())) t (at)`,
    });
    expect(JSON.stringify(plan)).not.toContain('iso_utc');
  });
});
