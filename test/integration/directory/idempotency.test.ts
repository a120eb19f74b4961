/** Which responses an idempotency store records, how many, and for how long (rules/http#idempotency-keys; I1, I4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IdempotencyStore, removeRecordsOfPerson, removeOldRecords } from '#libs/infrastructure/idempotency';
import { AppError, appError, unavailable } from '#libs/infrastructure/errors';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';

let env: TestEnvironment;
let db: Database;
let store: IdempotencyStore;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'directory', poolSize: 4, logger: env.logger, applicationName: 'test' });
  store = new IdempotencyStore(db);
});
afterAll(async () => {
  await db.close();
  await env.stop();
});

const call = (idempotencyKey: string, accountId = 1) => ({
  subject: 'directory.tests.write',
  actor: {
    kind: 'user',
    accountId,
    personId: null,
    superuser: false,
    globalEditor: false,
    coherenceAccess: false,
    groups: [],
  } as never,
  idempotencyKey,
});
const keysOf = async (accountId = 1): Promise<string[]> =>
  (
    await env.sql<{ key: string }>(
      'select key from directory.kept_answers where account_id = $1 order by expires_at, key',
      [accountId],
    )
  ).map(({ key }) => key);

describe('idempotency store (I1, I4)', () => {
  it('stores a response in the transaction of its effect, and stores none when that transaction fails', async () => {
    const work = store.run(call('broken'), {}, async (tx) => {
      tx.beforeCommit(() => tx.query({ name: 'tests.broken', text: 'select 1 / 0' }));
      return { done: true };
    });
    await expect(work).rejects.toThrow('division by zero');
    expect(await keysOf()).toEqual([]);
    expect(await store.run(call('whole'), {}, () => Promise.resolve({ done: true }))).toEqual({ done: true });
    expect(await store.find(call('whole'), {})).toMatchObject({ metadata: { replayed: true } });
  });

  it('stores responses and permanent errors of an operation, but not retryable errors or denied access', async () => {
    const refusals: AppError[] = [
      appError('conflict', 'busy', 'Busy.', { retryable: true }),
      unavailable(),
      ...(
        [
          'unauthenticated',
          'permission_denied',
          'not_found',
          'payload_too_large',
          'unprocessable',
          'rate_limited',
        ] as const
      ).map((code) => new AppError({ code, message: code })),
    ];
    for (const error of refusals) {
      await expect(store.run(call('passing', 2), {}, () => Promise.reject(error))).rejects.toBe(error);
      expect(await keysOf(2)).toEqual([]);
    }
    for (const code of ['bad_request', 'conflict', 'precondition_failed'] as const) {
      await expect(
        store.run(call(code, 2), {}, () => Promise.reject(new AppError({ code, message: code }))),
      ).rejects.toThrow(code);
      await expect(store.run(call(code, 2), {}, () => Promise.resolve({}))).rejects.toMatchObject({
        code,
        message: code,
      });
    }
  });

  it('removes the oldest idempotency records of an account that stores too much, and none of other accounts', async () => {
    const answer = { text: 'x'.repeat(100_000) };
    for (const key of ['a', 'b', 'c', 'd', 'e']) await store.run(call(key, 3), {}, () => Promise.resolve(answer));
    await store.run(call('modest', 4), {}, () => Promise.resolve(answer));
    await removeOldRecords(db, { maxBytes: 250_000 });
    expect([await keysOf(3), await keysOf(4)]).toEqual([['d', 'e'], ['modest']]);
    for (let index = 0; index < 30; index++) await store.run(call(`small-${index}`, 5), {}, () => Promise.resolve({}));
    await removeOldRecords(db, { maxBytes: 10_000 });
    expect((await keysOf(5)).length).toBeLessThan(20);
  });

  it('removes idempotency records after 24 hours', async () => {
    await store.run(call('old', 6), {}, () => Promise.resolve({}));
    const [row] = await env.sql<{ hours: string }>(
      `select extract(epoch from expires_at - clock_timestamp()) / 3600 as hours from directory.kept_answers where key = 'old'`,
    );
    expect(Math.round(Number(row?.hours))).toBe(24);
    await env.sql(`update directory.kept_answers set expires_at = clock_timestamp() where key = 'old'`);
    await removeOldRecords(db);
    expect(await keysOf(6)).toEqual([]);
  });

  it('removes idempotency records that reference an erased person, and all records of the person’s accounts', async () => {
    await store.run(call('names', 7), { responsible_person_id: 70 }, () => Promise.resolve({}));
    await store.run(call('shows', 7), {}, () => Promise.resolve({ person: { id: 70, actor_kind: 'human' } }));
    await store.run(call('other', 7), { responsible_person_id: 71 }, () => Promise.resolve({}));
    await store.run(call('own', 8), {}, () => Promise.resolve({}));
    await db.transaction((tx) => removeRecordsOfPerson(tx, { personId: 70, accountIds: [8] }));
    expect([await keysOf(7), await keysOf(8)]).toEqual([['other'], []]);
  });
});
