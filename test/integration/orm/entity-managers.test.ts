/** MikroORM entity managers, each in an open transaction. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EntitySchema } from '@mikro-orm/postgresql';
import { isRawNumber } from '#libs/infrastructure/json';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createEntityManagers } from '#libs/infrastructure/orm/entities';
import { migrate, Migration } from '#libs/infrastructure/orm/migrations';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

class Migration20260101000000_things extends Migration {
  override up(): void {
    this.addSql(`create table things (id integer primary key, name text not null, doc jsonb not null default '{}')`);
  }
}

interface Thing {
  id: number;
  name: string;
  doc: unknown;
}
const thingSchema = new EntitySchema<Thing>({
  name: 'Thing',
  tableName: 'things',
  properties: { id: { type: 'integer', primary: true }, name: { type: 'string' }, doc: { type: 'json' } },
});

const things = createEntityManagers({ schema: 'ormtest', entities: [thingSchema] });

const addThing = { name: 'thing.add', text: `insert into things (id, name) values ($1, $2)` };
const findThing = { name: 'thing.find', text: `select id, name from things where id = $1` };

let env: TestEnvironment;
let db: Database;
let nextId = 1;
const newId = (): number => nextId++;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  await migrate({ url, schema: 'ormtest', migrations: [Migration20260101000000_things], logger: env.logger });
  db = await createDatabase({ url, schema: 'ormtest', poolSize: 5, logger: env.logger, applicationName: 'units test' });
});
afterAll(async () => {
  await db.close();
  await env.stop();
});

describe('entity managers of transactions (architecture#data)', () => {
  it('load the entities of a service on first use', async () => {
    const keyless = new EntitySchema({
      name: 'Keyless',
      tableName: 'things',
      properties: { name: { type: 'string' } },
    });
    const units = createEntityManagers({ schema: 'ormtest', entities: [keyless] });
    await expect(db.transaction((tx) => units.get(tx))).rejects.toThrow('Keyless');
  });

  it('use the same connection as the statements of their transaction', async () => {
    const id = newId();
    await db.transaction(async (tx) => {
      await tx.query(addThing, [id, `shared ${id}`]);
      const em = await things.get(tx);
      const thing = await em.findOneOrFail(thingSchema, { id });
      thing.name = `renamed ${id}`;
      const pid = { name: 'tx.pid', text: 'select pg_backend_pid() as pid' };
      const [[statementPid], [entityPid]] = [
        await tx.query<{ pid: number }>(pid),
        await em.execute('select pg_backend_pid() as pid'),
      ];
      expect(entityPid).toEqual(statementPid);
      await expect(db.query(findThing, [id])).resolves.toEqual([]);
    });
    await expect(db.query(findThing, [id])).resolves.toEqual([{ id, name: `renamed ${id}` }]);
  });

  it('preserve big integers in JSON columns', async () => {
    const id = newId();
    await db.query(
      { name: 'thing.big', text: `insert into things (id, name, doc) values ($1, $2, '{"n": 12345678901234567890}')` },
      [id, `big ${id}`],
    );
    await db.transaction(async (tx) => {
      const loaded = await (await things.get(tx)).findOneOrFail(thingSchema, { id });
      expect(isRawNumber((loaded.doc as { n: unknown }).n)).toBe(true);
      loaded.doc = { ...(loaded.doc as object), seen: true };
    });
    await expect(db.query({ name: 'thing.doc', text: 'select doc from things where id = $1' }, [id])).resolves.toEqual([
      { doc: '{"n": 12345678901234567890, "seen": true}' },
    ]);
  });

  it('run nested transactions as savepoints', async () => {
    const [kept, dropped] = [newId(), newId()];
    await db.transaction(async (tx) => {
      const em = await things.get(tx);
      em.create(thingSchema, { id: kept, name: `kept ${kept}`, doc: {} });
      await em.flush();
      const inner = em.transactional(async (nested) => {
        nested.create(thingSchema, { id: dropped, name: `dropped ${dropped}`, doc: {} });
        await nested.flush();
        throw new Error('inner');
      });
      await expect(inner).rejects.toThrow('inner');
    });
    await expect(db.query(findThing, [kept])).resolves.toHaveLength(1);
    await expect(db.query(findThing, [dropped])).resolves.toHaveLength(0);
  });

  it('entity managers run only in transactions, one per transaction', async () => {
    await db.transaction(async (tx) => expect(await things.get(tx)).toBe(await things.get(tx)));
    await expect(things.orm.em.fork().findOne(thingSchema, { id: 1 })).rejects.toThrow(
      'A unit of work runs in a transaction',
    );
  });
});
