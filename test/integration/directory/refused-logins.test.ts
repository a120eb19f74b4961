/** Limit of audit entries from password guessing (A4; rules/audit#what-is-written). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { listDatabaseUrls } from '../../../libs/product/servers/service-accounts.ts';
import { createRefusedLogins, type RefusedLogins } from '../../../services/directory/accounts/login-limits.ts';

interface Entry {
  changes: { reason: string; refused_before_and_not_listed?: number };
  ip: string;
}

let env: TestEnvironment;
let db: Database;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const { DATABASE_URL_DIRECTORY: url = '' } = listDatabaseUrls(
    env.settings['DATABASE_URL'] ?? '',
    process.env['TEST_SERVICE_SECRET'] ?? '',
  );
  db = await createDatabase({ url, schema: 'directory', poolSize: 8, logger: env.logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await env.stop();
});

/** Records concurrent failed logins, each from a different address. */
const guess = (refused: RefusedLogins, times: number): Promise<unknown> =>
  Promise.all(
    Array.from({ length: times }, (_, index) =>
      refused.record(
        {
          subject: 'directory.login',
          audit: 'login',
          requestId: `r-${index}`,
          clientIp: `198.51.${index >> 8}.${index & 255}`,
        },
        null,
        'credentials',
      ),
    ),
  );

/** Returns entries written since the last call, oldest first. */
async function takeEntries(): Promise<Entry[]> {
  const [{ last } = { last: 0 }] = await env.sql<{ last: number }>(
    'select coalesce(max(id), 0)::integer as last from directory.audit_log',
  );
  const entries = await env.sql<{ changes: string; ip: string }>(
    'select changes, ip from directory.audit_log where id > $1 order by id',
    [taken],
  );
  taken = last;
  return entries.map(({ changes, ip }) => ({ changes: JSON.parse(changes) as Entry['changes'], ip }));
}
let taken = 0;

describe('audit entries of rejected logins (A4)', () => {
  it('writes at most 120 entries per minute, from any number of addresses, and counts the omitted ones in the next entry', async () => {
    let time = 5_000;
    const refused = createRefusedLogins(db, undefined, () => time);
    await guess(refused, 300);
    const first = await takeEntries();
    expect(first).toHaveLength(120);
    expect(first.filter(({ changes }) => 'refused_before_and_not_listed' in changes)).toEqual([]);
    expect(new Set(first.map(({ ip }) => ip)).size).toBe(120);

    time += 59_999;
    await guess(refused, 20);
    expect(await takeEntries()).toEqual([]);

    time += 1;
    await guess(refused, 1);
    await guess(refused, 1);
    expect((await takeEntries()).map(({ changes }) => changes)).toEqual([
      { reason: 'credentials', refused_before_and_not_listed: 200 },
      { reason: 'credentials' },
    ]);
    await guess(refused, 500);
    expect(await takeEntries()).toHaveLength(118);
  });

  it('applies the limit of audit entries to each process separately', async () => {
    const [one, other] = [createRefusedLogins(db), createRefusedLogins(db)];
    await Promise.all([guess(one, 130), guess(other, 130)]);
    expect(await takeEntries()).toHaveLength(240);
  });
});
