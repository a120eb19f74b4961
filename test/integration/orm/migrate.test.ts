import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createDatabase, type Database } from '#libs/orm';
import { migrate, Migration } from '#libs/orm/migrations';
import { createTestEnvironment, type TestEnvironment } from '#libs/testing';
import { formatInstant } from '#libs/time';

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

  it('creates the schema, runs what its history lacks, in order, and then nothing', async () => {
    const options = { url, schema: 'steps', logger: env.logger };
    const first = [Migration20260101000000_first];
    await expect(migrate({ ...options, migrations: first })).resolves.toEqual(['Migration20260101000000_first']);
    const both = [...first, Migration20260102000000_second];
    await expect(migrate({ ...options, migrations: both })).resolves.toEqual(['Migration20260102000000_second']);
    await expect(migrate({ ...options, migrations: both })).resolves.toEqual([]);
    await expect(tablesOf('steps')).resolves.toEqual(['first', 'migrations', 'second']);
  });

  it('lets one process at a time migrate', async () => {
    const migrations = [Migration20260101000000_first, Migration20260102000000_second];
    const runs = await Promise.all(Array.from({ length: 4 }, () => migrate({ url, schema: 'crowd', migrations, logger: env.logger })));
    expect(runs.flat()).toHaveLength(2);
    await expect(env.sql('select * from crowd.first')).resolves.toEqual([{ id: 1 }]);
  });

  it('undoes the migration that fails, keeps those before and names it', async () => {
    const migrations = [Migration20260102000000_second, Migration20260103000000_broken];
    const failing = migrate({ url, schema: 'failing', migrations, logger: env.logger });
    await expect(failing).rejects.toThrow(/migration Migration20260103000000_broken of schema failing failed: .*nonsense/s);
    await expect(tablesOf('failing')).resolves.toEqual(['migrations', 'second']);
  });

  it('gives the lock back after a failure', async () => {
    await expect(migrate({ url, schema: 'failing', migrations: [Migration20260102000000_second], logger: env.logger })).resolves.toEqual(
      [],
    );
  });

  it('refuses lists out of order, unnamed migrations and strange schemas', async () => {
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

  it('prints Z and six digits exactly when the microseconds are not zero', async () => {
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

  it('agrees with libs/time from year 1 to year 9999', async () => {
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

  it('does not depend on the time zone of the session, and is inlined', async () => {
    await db.transaction(async (tx) => {
      await tx.query({ name: 'zone', text: `set local timezone = 'Asia/Kolkata'` });
      await expect(tx.query(format, [['2026-05-01T10:00:00Z']])).resolves.toEqual([{ text: '2026-05-01T10:00:00Z' }]);
    });
    const plan = await db.query({ name: 'plan', text: `explain verbose select iso_utc(at) from (values (now())) t (at)` });
    expect(JSON.stringify(plan)).not.toContain('iso_utc');
  });
});
