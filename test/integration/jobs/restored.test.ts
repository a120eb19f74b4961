/** Jobs of a database restored to an earlier point in time, with a lost broker (rules/operations#after-a-restore). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJobs, type Jobs, rebuildQueue } from '#libs/infrastructure/jobs';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { waitFor } from '#libs/product/testing';
import { useShop } from './suite.ts';
import { countEffects, fast, office, shop } from './fixture.ts';

describe('a job sent to another service', () => {
  const suite = useShop(import.meta.url);
  let db: Database;
  beforeAll(async () => {
    const url = suite.env.settings['DATABASE_URL'] ?? '';
    db = await createDatabase({
      url,
      schema: 'office',
      poolSize: 2,
      logger: suite.env.logger,
      applicationName: 'office',
    });
  });
  afterAll(() => db.close());

  const handedOver = () =>
    suite.env.sql<{ message_id: string }>('select message_id from office.handed_over order by message_id');
  const produce = async (replica: Awaited<ReturnType<typeof suite.start>>): Promise<Jobs<typeof office>> => {
    const producer = createJobs({ contract: office, db, bus: replica.bus, logger: suite.env.logger, tuning: fast });
    await producer.work({});
    return producer;
  };

  it('processes a job once after the broker lost its data, whether or not the other service had received it', async () => {
    const replica = await suite.start();
    const first = await produce(replica);
    const arrived = await first.transaction((tx) => first.enqueue(tx, shop.jobs.effect, { n: 1 }));
    await suite.waitForState(arrived, 'succeeded');
    await first.stop();
    await replica.stop();

    const idle = await suite.start({ works: false });
    const second = await produce(idle);
    const underWay = await second.transaction((tx) =>
      second.enqueue(tx, shop.jobs.effect, { n: 2 }, { requestId: 'r-2' }),
    );
    await waitFor(async () => (await handedOver()).length === 2, { what: 'the broker to have it' });
    await second.stop();
    expect(await suite.env.sql('select 1 from office.outbox')).toEqual([]);
    expect(await suite.env.sql('select 1 from shop.jobs where id = $1', [underWay])).toEqual([]);
    await idle.bus.purgeStream('JOBS');

    const shopDb = await createDatabase({
      url: suite.env.settings['DATABASE_URL'] ?? '',
      schema: 'shop',
      poolSize: 1,
      logger: suite.env.logger,
      applicationName: 'restore',
    });
    expect(await rebuildQueue(shopDb)).toEqual({ jobs: 0, outbox: 0 });
    await shopDb.close();
    expect(await rebuildQueue(db)).toEqual({ jobs: 0, outbox: 2 });
    expect(await handedOver()).toEqual([]);

    const again = await suite.start();
    const third = await produce(again);
    expect(await suite.waitForState(underWay, 'succeeded')).toMatchObject({ request_id: 'r-2' });
    await waitFor(async () => (await handedOver()).length === 2, { what: 'both to be handed over again' });
    await waitFor(async () => (await again.bus.consumerLag('JOBS', 'shop_effect')).ackPending === 0);
    await third.stop();
    expect([await countEffects(suite.env, 1), await countEffects(suite.env, 2)]).toEqual([1, 1]);
  });

  it('deletes sent jobs after a day, and sent events immediately', async () => {
    const replica = await suite.start();
    const producer = await produce(replica);
    const old = '01900000-0000-7000-8000-000000000001';
    const insert = (id: string, age: string) =>
      suite.env.sql(
        `insert into office.handed_over (message_id, subject, body, handed_at) values ($1, 's', '{}', now() - $2::interval)`,
        [id, age],
      );
    await insert(old, '25 hours');
    await insert('01900000-0000-7000-8000-000000000002', '23 hours');
    await waitFor(async () => !(await handedOver()).some(({ message_id: id }) => id === old), { what: 'the sweeper' });
    expect((await handedOver()).map(({ message_id: id }) => id)).toContain('01900000-0000-7000-8000-000000000002');
    await replica.jobs.transaction((tx) => replica.jobs.emit(tx, shop.events.sold, { n: 1 }));
    await waitFor(async () => (await suite.env.sql('select 1 from shop.outbox')).length === 0);
    expect(await suite.env.sql('select 1 from shop.handed_over')).toEqual([]);
    await producer.stop();
  });
});
