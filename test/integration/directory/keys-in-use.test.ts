/** Service keys in use: by several gateways at once (K6), and the maximum delay of `last_used_at` (K7). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { startService } from '#libs/product/testing';
import { directory } from '#services/directory';
import { createKeyUses } from '../../../services/directory/keys/uses.ts';
import { listDatabaseUrls } from '../../../libs/product/servers/service-accounts.ts';
import { createKeyOf, updateAccountOf } from './account-of.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { createAccount, revokeKey, rotateKey } = directory.rpcs;
const email = 'a-service@example.org';

let fixture: DirectoryFixture;
let gateways: string[];
let db: Database;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await fixture.call(createAccount, { email, service_name: 'A service' });
  gateways = await Promise.all(
    [1, 2].map(async () => {
      const { port } = (await startService('api-gateway', fixture.env)) as unknown as { port: number };
      return `http://127.0.0.1:${port}`;
    }),
  );
  const { DATABASE_URL: all = '' } = fixture.env.settings;
  const { DATABASE_URL_DIRECTORY: url = '' } = listDatabaseUrls(all, process.env['TEST_SERVICE_SECRET'] ?? '');
  db = await createDatabase({
    url,
    schema: 'directory',
    poolSize: 2,
    logger: fixture.env.logger,
    applicationName: 'test',
  });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

const make = () => createKeyOf(fixture, email);

describe('a service key at two gateways (K6)', () => {
  const statusAt = async (gateway: string, token: string): Promise<number> =>
    (await fetch(`${gateway}/api/v1/auth/whoami`, { headers: { authorization: `Bearer ${token}` } })).status;

  it.each([
    ['revoked', (id: string) => fixture.call(revokeKey, { key_id: id })],
    ['rotated without an overlap', (id: string) => fixture.call(rotateKey, { key_id: id, overlap_seconds: 0 })],
    ['ended with its account', () => updateAccountOf(fixture, email, { active: false })],
  ])('rejects a key at both gateways within a second after it is %s', async (_how, end) => {
    const { key, token } = await make();
    // Repeats calls, so that each gateway has the key cached when the key ends.
    const use = async (gateway: string): Promise<number> => {
      while (performance.now() < deadline) await statusAt(gateway, token);
      return statusAt(gateway, token);
    };
    let deadline = Number.POSITIVE_INFINITY;
    expect(await Promise.all(gateways.map((gateway) => statusAt(gateway, token)))).toEqual([200, 200]);
    const used = gateways.map(use);
    await end(key.id);
    deadline = performance.now() + 1_000;
    expect(await Promise.all(used)).toEqual([401, 401]);
  });
});

describe('last_used_at of a continuously used key (K7)', () => {
  it('updates last_used_at of a continuously used key after fifty seconds, and not earlier', async () => {
    await updateAccountOf(fixture, email, { active: true });
    const { key } = await make();
    const start = Date.parse('2030-01-01T00:00:00Z');
    let nowMs = start;
    const [uses, others] = [createKeyUses(db, () => nowMs), createKeyUses(db, () => nowMs)];
    const written: number[] = [];
    // Simulates three minutes in which two replicas receive one request per second in turn and write every ten seconds.
    for (let second = 0; second <= 180; second++) {
      nowMs = start + second * 1_000;
      (second % 2 === 0 ? uses : others).note(key.id);
      if (second % 10 !== 0) continue;
      await Promise.all([uses.write(), others.write()]);
      const [row] = await fixture.env.sql<{ at: string }>(
        'select last_used_at::text as at from directory.service_keys where id = $1',
        [key.id],
      );
      const at = Date.parse(row?.at ?? '');
      expect(nowMs - at).toBeLessThanOrEqual(60_000);
      if (at !== written.at(-1)) written.push(at);
    }
    const apart = written.slice(1).map((at, index) => at - (written[index] ?? 0));
    expect(apart.length).toBe(3);
    for (const ms of apart) expect([ms >= 50_000, ms <= 60_000]).toEqual([true, true]);
    const [{ version } = { version: '' }] = await fixture.env.sql<{ version: string }>(
      'select xmin::text as version from directory.service_keys where id = $1',
      [key.id],
    );
    uses.note(key.id);
    await uses.write();
    expect(
      await fixture.env.sql('select 1 from directory.service_keys where id = $1 and xmin::text = $2', [
        key.id,
        version,
      ]),
    ).toHaveLength(1);
  });
});
