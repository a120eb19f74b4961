/** Tests the formula of docs/scaling.md#connections on a real service under load (rules/operations#a-pooler). */
import { describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, startPgBouncer } from '#libs/product/testing';
import { directory } from '#services/directory';
import { migrateServices, readServiceUrls } from '#libs/infrastructure/migrations';
import { listDatabaseUrls } from '../../../libs/product/servers/service-accounts.ts';
import { startDirectoryFixture } from './fixture.ts';

const ofProcess = 3;
const ofRole = 4;
const requests = 40;

/**
 * Returns the maximum number of PostgreSQL connections that the service uses while many transactions wait for each
 * other.
 */
async function measure(replicas: number, pooled: boolean): Promise<number> {
  const settings: Record<string, string> = { DATABASE_POOL_SIZE: String(ofProcess) };
  const fixture = await startDirectoryFixture(import.meta.url, settings, {
    replicas,
    prepare: async (env) => {
      if (!pooled) return {};
      const adminUrl = env.settings['DATABASE_URL'] ?? '';
      const urls = listDatabaseUrls(adminUrl, process.env['TEST_SERVICE_SECRET'] ?? '');
      await migrateServices({ url: adminUrl, logger: env.logger, serviceUrls: readServiceUrls(urls) });
      const pgBouncer = await startPgBouncer({ urls: Object.values(urls), poolSize: ofRole });
      env.onStop(() => pgBouncer.stop());
      return { DATABASE_URL: pgBouncer.through(adminUrl), DATABASE_POOLER: 'transaction' };
    },
  });
  try {
    const state = { most: 0, working: true };
    const watching = (async () => {
      while (state.working) {
        const [row] = await fixture.env.sql<{ count: string }>(
          `select count(*) from pg_stat_activity where datname = current_database() and usename = 'coherence_directory'`,
        );
        state.most = Math.max(state.most, Number(row?.count));
      }
    })();
    const document = { people: [{ key: 'ada', name: 'Ada' }] };
    await Promise.all(
      Array.from({ length: requests }, () => fixture.call(directory.rpcs.applyWorkspace, { document, dry_run: true })),
    );
    state.working = false;
    await watching;
    return state.most;
  } finally {
    await fixture.stop();
  }
}

describe('connection pools of a busy service', () => {
  it.each([
    [1, false],
    [2, false],
    [1, true],
    [2, true],
    [3, true],
  ])(
    'uses all connections of its pools, and opens no more, with %i replicas (behind PgBouncer: %s)',
    async (replicas, pooled) => {
      expect(await measure(replicas, pooled)).toBe(
        pooled ? Math.min(replicas * ofProcess, ofRole) : replicas * ofProcess,
      );
    },
    provideTimeoutMs,
  );
});
