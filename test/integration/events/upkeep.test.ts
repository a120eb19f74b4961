/** What the feed no longer keeps, and where it is read again from (V3, V11). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/orm';
import { createTestEnvironment, startService, type TestEnvironment, waitFor } from '#libs/testing';
import { findPositionBefore } from '../../../services/events/deliveries/statements/log.ts';

let env: TestEnvironment;
let db: Database;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'events', poolSize: 2, logger: env.logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await env.stop();
});

describe('subjects of which no event is kept (V3)', () => {
  it('go all at once, however many there are', async () => {
    await env.sql(
      `insert into events.subjects (type, id, known, holons, people, gone, last_position)
       select 'conversation', n, true, '{}', '{}', false, case when n <= 25000 then 0 else 7 end from generate_series(1, 25100) n`,
    );
    // Which it does once it has started, and then each hour: in one go, not some an hour.
    await startService('events', env);
    const count = async (): Promise<unknown> => (await env.sql('select count(*)::integer n from events.subjects'))[0]?.['n'];
    await waitFor(async () => (await count()) === 100, { what: 'all but 100 to go' });
  });
});

describe('the position before what happened since a time (V11)', () => {
  it('is before what others told while an outbox could not be sent', async () => {
    // Of one service nothing came for two hours: 1,500 events of then stand behind what another told an hour later.
    await env.sql(
      `insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
       select n, now() - case when n <= 500 then interval '1 hour' else interval '2 hours' end + n * interval '1 millisecond',
         case when n <= 500 then 'conversations' else 'directory' end, n, gen_random_uuid(), 'holon.updated', 'holon', 1, '{}', false
       from generate_series(1, 2000) n`,
    );
    const at = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    expect(await findPositionBefore(db, { since: at(3) })).toEqual({ position: 0 });
    expect(await findPositionBefore(db, { since: at(1.5) })).toEqual({ position: 0 });
    expect(await findPositionBefore(db, { since: at(0.5) })).toEqual({ position: null });
  });
});
