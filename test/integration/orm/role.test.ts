import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  type Database,
  findPendingMigrations,
  roleOf,
  waitForMigrations,
} from '#libs/infrastructure/orm';
import { migrate, Migration } from '#libs/infrastructure/orm/migrations';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

class Migration20260101000000_books extends Migration {
  override up(): void {
    this.addSql('create table books (id int generated always as identity primary key, title text)');
  }
}
class Migration20260102000000_shelves extends Migration {
  override up(): void {
    this.addSql('create table shelves (id serial primary key)');
  }
}
const migrations = [Migration20260101000000_books, Migration20260102000000_shelves];
const names = migrations.map(({ name }) => name);

describe('the role of a service (rules/operations#least-privilege)', () => {
  let env: TestEnvironment;
  let adminUrl: string;
  const password = `p'"%${randomBytes(6).toString('hex')}`;
  const role = `r_${randomBytes(5).toString('hex')}`;

  const urlOf = (name: string, secret: string): string => {
    const url = new URL(adminUrl);
    url.username = encodeURIComponent(name);
    url.password = encodeURIComponent(secret);
    return url.href;
  };
  const open = (url: string, schema = 'library'): Promise<Database> =>
    createDatabase({ url, schema, poolSize: 1, logger: env.logger, applicationName: 'test' });
  const run = async (db: Database, text: string): Promise<unknown[]> =>
    db.query({ name: `q${randomBytes(4).toString('hex')}`, text });
  const migrateLibrary = async (list: typeof migrations, secret = password): Promise<string[]> =>
    migrate({
      url: adminUrl,
      schema: 'library',
      migrations: list,
      logger: env.logger,
      role: roleOf(urlOf(role, secret), 'DATABASE_URL_LIBRARY'),
    });

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    adminUrl = env.settings['DATABASE_URL'] ?? '';
    await migrate({
      url: adminUrl,
      schema: 'neighbour',
      migrations: [Migration20260101000000_books],
      logger: env.logger,
    });
    await migrateLibrary([Migration20260101000000_books]);
  });
  afterAll(async () => {
    await env.sql(`drop owned by ${role} cascade`);
    await env.sql(`drop role ${role}`);
    await env.stop();
  });

  it('the role of a service reads and writes the rows of its schema, and no other schema', async () => {
    const db = await open(urlOf(role, password));
    await run(db, `insert into books (title) values ('a')`);
    expect(await run(db, 'select title from books')).toEqual([{ title: 'a' }]);
    await expect(run(db, 'select * from neighbour.books')).rejects.toThrow(/permission denied for schema neighbour/);
    await expect(run(db, 'select * from conversations.conversations')).rejects.toThrow(
      /permission denied for schema conversations/,
    );
    await expect(run(db, 'drop table books')).rejects.toThrow(/must be owner/);
    await expect(run(db, 'create table library.mine (id int)')).rejects.toThrow(/permission denied for schema library/);
    await expect(run(db, 'delete from library.migrations')).rejects.toThrow(/permission denied for table migrations/);
    await db.close();
  });

  it('grants rights on the tables of later migrations, and replaces the password of the role when it changes', async () => {
    await migrateLibrary(migrations, 'another');
    const db = await open(urlOf(role, 'another'));
    await run(db, 'insert into shelves default values');
    await db.close();
    const old = await open(urlOf(role, password));
    await expect(run(old, 'select 1')).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringMatching(/^password authentication failed/) },
    });
    await old.close();
    await migrateLibrary(migrations);
  });

  it('sends a verifier computed by the client instead of the password to the server', async () => {
    const [stored] = await env.sql<{ rolpassword: string }>('select rolpassword from pg_authid where rolname = $1', [
      role,
    ]);
    expect(stored?.rolpassword).toMatch(
      /^SCRAM-SHA-256\$4096:[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}:[A-Za-z0-9+/=]{44}$/,
    );
  });

  it('limits statements of the role to a minute, regardless of connection settings', async () => {
    const limits = await env.sql(
      `select unnest(setconfig) as setting from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
       join pg_database d on d.oid = s.setdatabase where r.rolname = $1 and d.datname = current_database()`,
      [role],
    );
    expect(limits.slice(0, 2)).toEqual([
      { setting: 'statement_timeout=60s' },
      { setting: 'idle_in_transaction_session_timeout=120s' },
    ]);
    // The role has these settings, because a pooler does not forward them (rules/operations#a-pooler).
    expect(limits.slice(2)).toEqual(
      [
        'search_path=library, public',
        'random_page_cost=1.1',
        'jit=off',
        'max_parallel_workers_per_gather=0',
        'work_mem=16MB',
      ].map((setting) => ({ setting })),
    );
  });

  it('lets a service read its pending migrations, even if the schema does not exist', async () => {
    const db = await open(urlOf(role, password));
    expect(await findPendingMigrations(db, 'library', names)).toEqual([]);
    class Migration20260103000000_next extends Migration {
      override up(): void {}
    }
    expect(await findPendingMigrations(db, 'library', [...names, Migration20260103000000_next.name])).toEqual([
      'Migration20260103000000_next',
    ]);
    expect(await findPendingMigrations(db, 'nowhere', names)).toHaveLength(2);
    await db.close();
  });

  it('lets a service wait until its migrations have run', async () => {
    const db = await open(adminUrl, 'later');
    const order: string[] = [];
    const waiting = waitForMigrations({ db, schema: 'later', migrations: names, logger: env.logger }).then(() =>
      order.push('ready'),
    );
    await migrate({ url: adminUrl, schema: 'later', migrations: [Migration20260101000000_books], logger: env.logger });
    order.push('first');
    await migrate({ url: adminUrl, schema: 'later', migrations, logger: env.logger });
    await waiting;
    expect(order).toEqual(['first', 'ready']);
    await db.close();
  });

  it('rejects a role URL without a password, and an invalid URL', () => {
    // The password may be missing in the URL: it is managed elsewhere, or the role uses a certificate.
    expect(roleOf('postgresql://someone@localhost/x', 'DATABASE_URL_MEDIA')).toEqual({
      name: 'someone',
      password: undefined,
    });
    expect(() => roleOf('postgresql://localhost/x', 'DATABASE_URL_MEDIA')).toThrow(
      'DATABASE_URL_MEDIA must name the role',
    );
    expect(() => roleOf('nonsense', 'DATABASE_URL_MEDIA')).toThrow('DATABASE_URL_MEDIA is not a valid PostgreSQL URL');
  });
});
