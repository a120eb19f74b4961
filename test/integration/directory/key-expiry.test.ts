import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { directory } from '#services/directory';
import { measureKeys } from '../../../services/directory/keys/uses.ts';
import { createKeyOf } from './account-of.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

let fixture: DirectoryFixture;
let db: Database;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  const { DATABASE_URL: url = '' } = fixture.env.settings;
  db = await createDatabase({
    url,
    schema: 'directory',
    poolSize: 1,
    logger: fixture.env.logger,
    applicationName: 'key expiry',
  });
  await fixture.apply({
    people: [{ key: 'bot', name: 'Bot' }],
    accounts: [{ email: 'bot@example.org', person: 'bot' }],
  });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

describe('coherence_service_keys_expiring (rules/operations#metrics, rules/access#service-keys)', () => {
  it('counts active keys that expire within seven days', async () => {
    const metrics = createMetrics('directory');
    measureKeys(metrics, db);
    const measure = async (): Promise<number> =>
      Number(/^coherence_service_keys_expiring\{.*\} (\d+)$/m.exec((await metrics.render()).text)?.[1] ?? Number.NaN);
    const issue = async (endsInDays: number | undefined): Promise<string> => {
      const ends =
        endsInDays === undefined ? {} : { expires_at: new Date(Date.now() + endsInDays * 86_400_000).toISOString() };
      const { key } = await createKeyOf(fixture, 'bot@example.org', ends);
      return key.id;
    };
    expect(await measure()).toBe(0);
    const [soon] = [await issue(6.9), await issue(7.1), await issue(undefined), await issue(0.5)];
    expect(await measure()).toBe(2);
    await fixture.call(directory.rpcs.revokeKey, { key_id: soon });
    expect(await measure()).toBe(1);
    await fixture.env.sql(
      `update directory.service_keys set expires_at = clock_timestamp() where revoked_at is null and expires_at is not null`,
    );
    expect(await measure()).toBe(0);
  });
});
