/** Shared setup of the suites of this folder. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { type JobRow, migrateShop, openReplica, readJob, type Replica, type ReplicaOptions } from './fixture.ts';

/** The environment of a suite, and functions that start replicas, which are stopped after each test. */
export interface ShopSuite {
  readonly env: TestEnvironment;
  start(options?: ReplicaOptions): Promise<Replica>;
  waitForState(id: string, state: string): Promise<JobRow>;
}

/** Prepares a suite: creates the tables once and empties them after each test. Call it in `describe`. */
export function useShop(fileUrl: string): ShopSuite {
  let env: TestEnvironment | undefined;
  let open: Replica[] = [];
  const getEnv = (): TestEnvironment => {
    if (env === undefined) throw new Error('the suite has not begun');
    return env;
  };
  beforeAll(async () => {
    env = await createTestEnvironment(fileUrl);
    await migrateShop(env.settings['DATABASE_URL'] ?? '', env);
  });
  afterEach(async () => {
    await Promise.all(open.map((replica) => replica.stop()));
    open = [];
    await getEnv().sql(
      'truncate shop.jobs, shop.job_attempts, shop.outbox, shop.effects, office.jobs, office.job_attempts, office.outbox',
    );
  });
  afterAll(async () => {
    await getEnv().stop();
  });
  return {
    get env() {
      return getEnv();
    },
    start: async (options = {}) => {
      const replica = await openReplica(getEnv(), options);
      open.push(replica);
      return replica;
    },
    waitForState: (id, state) =>
      waitFor(
        async () => {
          const row = await readJob(getEnv(), id);
          return row?.state === state ? row : undefined;
        },
        { what: `${id} to be ${state}` },
      ),
  };
}
